// One line on how the run's time passed.
#include <string>

#include "collector/text/number_text.h"
#include "collector/text/wrapped_text.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

std::string NameOf(const std::string& name) {
  if (name == "start") return "before the first call of CUDA (imports among it)";
  if (name == "loading") return "loading up to the first kernel";
  if (name == "setup") return "set-up before the first step";
  if (name == "warmup") return "warm-up";
  if (name == "steps") return "steps";
  if (name == "work") return "work";
  return "after it";
}

std::string PhaseText(const PhaseSummary& phase) {
  std::string text = TimeText(phase.time_ns()) + " " + NameOf(phase.name());
  if (phase.name() == "warmup" && phase.steps() > 0) {
    text += " (" + CompactCountText(phase.steps()) + (phase.steps() == 1 ? " step)" : " steps)");
  }
  return text;
}

}  // namespace

std::string RenderPhases(const Summary& summary, const TextOptions& options) {
  if (summary.phases_size() < 2) return "";
  std::string text;
  for (const PhaseSummary& phase : summary.phases()) {
    text += (text.empty() ? "Run: " : ", ") + PhaseText(phase);
  }
  return Wrap(text, options.columns, 2);
}

}  // namespace utlz
