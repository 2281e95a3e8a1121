#include "collector/diagnosis/what_is_known.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "collector/capture_trust.h"
#include "collector/text/number_text.h"
#include "collector/text/shell_text.h"

namespace utlz {
namespace {

constexpr char kTimes[] =
    "when each kernel and copy ran and for how long, what the GPU waited for, and which families "
    "of "
    "kernels the time goes to";
constexpr char kTotals[] =
    "; of the whole GPU, by NVML, how busy multiprocessors, tensor cores and memory were";

// An attachment's command is that of utlz itself: `utlz attach PID`.
bool IsAttachment(const Summary& summary) {
  return summary.run().attached() && summary.run().command_size() > 2;
}

// What would record the same again, with these options.
std::string Again(const Summary& summary, const std::string& options = "") {
  const bool attachment = IsAttachment(summary);
  std::string text = (attachment ? "utlz attach" : "utlz run") + options;
  if (summary.run().command().empty()) return text + " COMMAND";
  for (int i = attachment ? 2 : 0; i < summary.run().command_size(); ++i) {
    text += " " + ShellWord(summary.run().command(i));
  }
  return text;
}

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsMigSlice(const Summary& summary) {
  return Holds(summary.capture().counter_source_reason(), "MIG slice") ||
         std::any_of(summary.devices().begin(), summary.devices().end(),
                     [](const DeviceSummary& device) { return Holds(device.name(), " MIG "); });
}

// The command that would bring counters.
std::string NextCommand(const std::string& counters, const Summary& summary) {
  const std::string& reason = summary.capture().counter_source_reason();
  if (IsMigSlice(summary)) return Again(summary) + "  # on a GPU without MIG";
  if (Holds(reason, "may not read")) return "sudo " + Again(summary);
  if (Holds(reason, "profiler holds")) return "dcgmi profile --pause  # or end the other profiler";
  if (counters == "none") return Again(summary, " --counters auto");
  return "utlz doctor";
}

// Steps shorter than this in all get too few samples, whatever the delay.
constexpr double kFewestSecondsOfSteps = 2;

// The steps; without steps, all work.
PhaseSummary MeasuredPhase(const Summary& summary) {
  for (const PhaseSummary& phase : summary.phases()) {
    if (phase.name() == "steps" || phase.name() == "work") return phase;
  }
  return {};
}

// What is sampled before the steps says nothing of them, and neither does what is sampled once
// kernels are recorded no more.
std::string CommandForSamples(const Summary& summary) {
  if (summary.capture().has_records_ended_after_ns()) {
    return Again(summary, " --later-windows always") + "  # records kernels beyond the first " +
           TimeText(summary.capture().records_ended_after_ns()) +
           ", which makes each launch longer";
  }
  const PhaseSummary phase = MeasuredPhase(summary);
  const bool has_steps = phase.name() == "steps";
  if (phase.time_ns() > 0 && phase.time_ns() < kFewestSecondsOfSteps * 1e9) {
    return Again(summary, IsAttachment(summary) ? " --duration 60" : "") + "  # with more " +
           (has_steps ? "steps: these took " : "work: this took ") + TimeText(phase.time_ns()) +
           ", some 10 s show " + (has_steps ? "their" : "its") + " FLOPs and bytes";
  }
  const double delay_s = std::floor(phase.start_ns() * 1e-9);
  if (delay_s < 1 || !has_steps || IsAttachment(summary)) {
    return Again(summary, " --overhead-budget unlimited");
  }
  return Again(summary, " --delay " + std::to_string(std::llround(delay_s))) +
         "  # leaves start-up out";
}

void SayHardlySampled(Summary* summary) {
  if (MuchUnrecordedWork(*summary) > 0) {
    summary->set_next_command(Again(*summary, " --overhead-budget unlimited") +
                              "  # records without a pause");
    return;
  }
  const CaptureSummary& capture = summary->capture();
  const bool uncounted = capture.kernel_time_without_counters_share() >= kMostlyUncounted;
  if (HoldsWorkOfSeveral(*summary) || (!AreHardlySampled(capture) && !uncounted)) return;
  if (uncounted && !summary->efficiency().has_model_flops_per_step()) {
    summary->set_not_known(
        "MFU; it needs no counters where --model-config or --model-flops-per-step tells the "
        "model's FLOPs");
  }
  summary->set_next_command(CommandForSamples(*summary));
}

}  // namespace

void SayWhatIsKnown(const std::string& counters, Summary* summary) {
  if (summary->devices().empty() || summary->kernels().empty()) return;
  const CounterSource source = summary->capture().counter_source();
  if (source >= SOURCE_SAMPLED) return SayHardlySampled(summary);
  const bool totals = source == SOURCE_GPM;
  summary->set_known(std::string(kTimes) + (totals ? kTotals : ""));
  summary->set_not_known(
      std::string("FLOPs and bytes of kernels, and how far each is from what the GPU can do") +
      (IsMigSlice(*summary) ? ": counters cannot be sampled in a MIG slice" : ""));
  summary->set_next_command(NextCommand(counters, *summary));
}

}  // namespace utlz
