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
  if (name == "untraced") return "not traced after the last traced one";
  return "after it";
}

// What was not traced after the last traced step may have been more of them.
bool MayGoOn(const Summary& summary, int steps) {
  return steps + 1 < summary.phases_size() && summary.phases(steps + 1).name() == "untraced";
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
  for (int i = 0; i < summary.phases_size(); ++i) {
    text += text.empty() ? "Run: " : ", ";
    text += (MayGoOn(summary, i) ? "at least " : "") + PhaseText(summary.phases(i));
  }
  return Wrap(text, options.columns, 2);
}

}  // namespace utlz
