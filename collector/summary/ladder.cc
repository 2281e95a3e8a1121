#include "collector/summary/ladder.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "collector/capture_trust.h"
#include "collector/summary/steady_state_summary.h"
#include "collector/text/number_text.h"
#include "collector/text/slowdown_text.h"

namespace utlz {
namespace {

// Shares of the steady part from which idle time, or communication, is the problem.
constexpr double kMuchIdle = 0.25;
constexpr double kMuchCommunication = 0.2;
// A bound is the run's if kernels with this share of the kernels' time have it.
constexpr double kMostOfKernels = 0.5;
// The run has a roofline if counters are known of this share of the kernels' time.
constexpr double kEnoughKnown = 0.5;

// Times of the steady part, summed over devices.
struct Parts {
  double window_ns = 0;
  StretchContent content;
  double compute_ns = 0;
  // Of the time in which compute kernels ran.
  double roofline_ns = 0;  // at their rooflines, unknown ones as measured
  double roofline_variance = 0;
  double peak_ns = 0;  // what their tensor FLOPs need, unknown ones as measured
  double kept_ns = 0;  // of unknown ones
  double tensor_ns = 0;
  double memory_bound_ns = 0;
  double compute_bound_ns = 0;
  double latency_bound_ns = 0;
};

double RooflineErrorNs(const KernelRow& row, double roofline_ns) {
  const bool memory =
      row.roofline.memory_time_ns.value_or(0) >= row.roofline.compute_time_ns.value_or(0);
  double value = 0;
  double variance = 0;
  if (memory) {
    for (const auto& bytes : {row.work.read_bytes, row.work.write_bytes}) {
      if (!bytes.has_value()) continue;
      value += bytes->value;
      variance += bytes->error * bytes->error;
    }
  } else {
    for (const TypedFlops& flops : row.work.flops) {
      value += flops.flops;
      variance += flops.error * flops.error;
    }
  }
  return value > 0 ? roofline_ns * std::sqrt(variance) / value : 0;
}

void AddKernel(const KernelRow& row, double scale, Parts* parts) {
  const double time_ns = scale * row.time_ns;
  const auto roofline = RooflineTimeNs(row.roofline);
  if (!roofline.has_value()) {
    parts->kept_ns += time_ns;
    parts->roofline_ns += time_ns;
    parts->peak_ns += time_ns;
    return;
  }
  const double roofline_ns = std::min(time_ns, scale * *roofline);
  parts->roofline_ns += roofline_ns;
  parts->roofline_variance += std::pow(scale * RooflineErrorNs(row, *roofline), 2);
  const double tensor_ns =
      scale * (row.roofline.compute_time_ns.value_or(0) - row.roofline.other_compute_time_ns);
  parts->tensor_ns += std::clamp(tensor_ns, 0.0, roofline_ns);
  parts->peak_ns += std::clamp(tensor_ns, 0.0, roofline_ns);
  if (BoundOf(row.roofline) == BOUND_LATENCY) {
    parts->latency_bound_ns += time_ns;
  } else if (row.roofline.memory_time_ns.value_or(0) > row.roofline.compute_time_ns.value_or(0)) {
    parts->memory_bound_ns += time_ns;
  } else {
    parts->compute_bound_ns += time_ns;
  }
}

void AddDevice(const RunState& state, const Analysis& analysis, uint32_t device, Parts* parts) {
  const DevicePart& part = analysis.devices[device].part;
  parts->window_ns += part.TimeNs();
  for (size_t i = 0; i < kTimeCategories; ++i) parts->content.time_ns[i] += part.content.time_ns[i];
  const double compute_ns = part.content.TimeNs(TimeCategory::kCompute);
  parts->compute_ns += compute_ns;
  double rows_ns = 0;
  const auto is_of_device = [&](const KernelRow& row) {
    const Kernel& kernel = state.kernels[row.kernel];
    return kernel.device == device && !kernel.communication;
  };
  for (const KernelRow& row : analysis.rows) {
    if (is_of_device(row)) rows_ns += row.steady_share * row.time_ns;
  }
  for (const KernelRow& row : analysis.rows) {
    if (rows_ns <= 0 || !is_of_device(row)) continue;
    AddKernel(row, row.steady_share * compute_ns / rows_ns, parts);
  }
}

void AddRung(const char* name, const std::string& text, double time_ns, double error_ns,
             LadderSummary* ladder) {
  LadderRung* rung = ladder->add_rungs();
  rung->set_name(name);
  rung->set_text(text);
  rung->set_time_ns(time_ns);
  if (error_ns > 0) rung->set_time_error_ns(error_ns);
  if (time_ns > 0) rung->set_speedup(ladder->rungs(0).time_ns() / time_ns);
}

std::string UnitOf(const Summary& summary) {
  if (MeanStepNs(summary) <= 0) return "run";
  return summary.steps().level().empty() ? "step" : summary.steps().level();
}

void SetLadder(const Parts& parts, Summary* summary) {
  LadderSummary* ladder = summary->mutable_ladder();
  ladder->set_unit(UnitOf(*summary));
  const double step_ns = MeanStepNs(*summary);
  // Several devices work on one unit at once.
  const double devices = std::max(1, summary->devices_size());
  const double scale = step_ns > 0 ? step_ns / parts.window_ns : 1 / devices;
  const double idle_ns = parts.content.IdleNs();
  AddRung(kRungNow, "as measured", scale * parts.window_ns, 0, ladder);
  const double no_idle_ns = parts.window_ns - idle_ns;
  AddRung(kRungNoIdle, "the GPU never waits", scale * no_idle_ns, 0, ladder);
  ladder->set_time_kept_ns(scale * parts.kept_ns);
  if (parts.kept_ns > kEnoughKnown * parts.compute_ns || parts.compute_ns <= 0) return;
  // Copies and communication that kernels could hide are hidden.
  AddRung(kRungAtRoofline, "and every kernel with counters is at its roofline, beside all copies",
          scale * parts.roofline_ns, scale * std::sqrt(parts.roofline_variance), ladder);
  if (parts.tensor_ns <= 0) return;
  AddRung(kRungAtPeak, "and bytes cost nothing: tensor FLOPs at their peak", scale * parts.peak_ns,
          0, ladder);
}

// In one or two words; nothing where the counters of most kernels are not known.
std::string ProblemOf(const Parts& parts) {
  const StretchContent& content = parts.content;
  const struct {
    const char* name;
    double time_ns;
  } idle[] = {
      {"launch-bound", content.TimeNs(TimeCategory::kLaunchGap)},
      {"input-bound", content.TimeNs(TimeCategory::kUploadGap)},
      {"host-bound",
       content.TimeNs(TimeCategory::kReadbackGap) + content.TimeNs(TimeCategory::kOtherGap)},
      {"copy-bound", content.CopyNs()},
  };
  double idle_ns = 0;
  for (const auto& part : idle) idle_ns += part.time_ns;
  const double communication_ns = content.TimeNs(TimeCategory::kCommunication);
  if (communication_ns >= std::max(idle_ns, kMuchCommunication * parts.window_ns)) {
    return "communication-bound";
  }
  if (idle_ns >= kMuchIdle * parts.window_ns) {
    return std::max_element(std::begin(idle), std::end(idle),
                            [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; })
        ->name;
  }
  if (parts.kept_ns > kEnoughKnown * parts.compute_ns) return {};
  const double enough_ns = kMostOfKernels * (parts.compute_ns - parts.kept_ns);
  if (parts.memory_bound_ns >= enough_ns) return "memory-bound";
  if (parts.compute_bound_ns >= enough_ns) return "compute-bound";
  if (parts.latency_bound_ns >= enough_ns) return "latency-bound";
  return "balanced";
}

// What counters say of steps rests on the samples in them, however many there are before.
std::string SampledText(double uncounted, const Summary& summary) {
  const CaptureSummary& capture = summary.capture();
  const bool has_steps = summary.steps().steps() > 0;
  if (capture.samples() == 0) return {};
  if (uncounted >= kMostlyUncounted && HoldsWorkOfSeveral(summary)) {
    return "kernels of several processes ran at once, so that FLOPs and bytes of kernels are "
           "mostly "
           "unknown";
  }
  if (uncounted >= kMostlyUncounted) {
    return std::string(has_steps ? "the steps were" : "the run was") + " hardly sampled" +
           (capture.has_steps_sampled_share()
                ? " (" + PercentText(capture.steps_sampled_share()) + " of their time)"
                : "") +
           ", so that FLOPs and bytes of kernels are mostly unknown";
  }
  if (!AreHardlySampled(capture)) return {};
  return "the steps were hardly sampled (" + PercentText(capture.steps_sampled_share()) +
         " of their time, most samples fell before them), so rates of kernels rest on few of their "
         "launches";
}

std::string TrustOf(const Parts& parts, const Summary& summary) {
  std::vector<std::string> texts;
  const StepsSummary& steps = summary.steps();
  if (steps.has_traced_share()) {
    // Where what ran after the last traced step was not counted, it may have been more of them.
    texts.push_back((steps.has_after_traced() ? "" : "at most ") +
                    PercentText(steps.traced_share()) + " of the steps' time traced");
  } else if (summary.capture().has_coverage_share()) {
    texts.push_back(PercentText(summary.capture().coverage_share()) + " of the time traced");
  }
  if (parts.compute_ns > 0) {
    const CaptureSummary& capture = summary.capture();
    const double uncounted = capture.has_kernel_time_without_counters_share()
                                 ? capture.kernel_time_without_counters_share()
                                 : parts.kept_ns / parts.compute_ns;
    texts.push_back(PercentText(uncounted) + " of the kernel time without counters");
    // What is uncertain comes first.
    if (const std::string sampled = SampledText(uncounted, summary); !sampled.empty()) {
      texts.insert(texts.begin(), sampled);
    }
  }
  if (const std::string slowdown = SlowdownText(summary.capture()); !slowdown.empty()) {
    texts.push_back(slowdown);
  }
  if (const double unrecorded = MuchUnrecordedWork(summary); unrecorded > 0) {
    texts.insert(texts.begin(), PercentText(unrecorded) + " of the GPU's work is in no record");
  }
  std::string text;
  for (const std::string& part : texts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

}  // namespace

void SummarizeLadder(const RunState& state, const Analysis& analysis, Summary* summary) {
  Parts parts;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (state.devices[i].used) AddDevice(state, analysis, i, &parts);
  }
  if (parts.window_ns <= 0) return;
  if (const std::string trust = TrustOf(parts, *summary); !trust.empty()) summary->set_trust(trust);
  // What the GPU waited for is not known then.
  if (MuchUnrecordedWork(*summary) > 0) return;
  SetLadder(parts, summary);
  if (const std::string problem = ProblemOf(parts); !problem.empty()) summary->set_problem(problem);
}

}  // namespace utlz
