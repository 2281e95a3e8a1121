#include "collector/summary/phases.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace utlz {
namespace {

// Shorter phases are not shown.
constexpr double kShortestNs = 1e6;
// How busy the GPU was is shown if at least this share of a phase was traced.
constexpr double kLeastTraced = 0.2;

struct Bounds {
  uint64_t run_start_ns = 0;
  uint64_t run_end_ns = 0;
  uint64_t first_call_ns = UINT64_MAX;  // of CUDA
  uint64_t first_work_ns = UINT64_MAX;
  uint64_t last_work_ns = 0;
};

std::optional<Bounds> BoundsOf(const RunState& state) {
  if (!state.run_start.has_value()) return std::nullopt;
  Bounds bounds = {.run_start_ns = state.run_start->time_ns(), .run_end_ns = state.NewestNs()};
  for (const auto& [source, process] : state.processes.processes()) {
    const uint64_t agent_ns = process->info.start_time_ns();
    if (agent_ns != 0) bounds.first_call_ns = std::min(bounds.first_call_ns, agent_ns);
  }
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const ConcurrencyTracker& sweep = state.devices[i].sweep;
    if (!state.devices[i].used || sweep.first_ns() == 0) continue;
    bounds.first_work_ns = std::min(bounds.first_work_ns, sweep.first_ns());
    bounds.last_work_ns = std::max(bounds.last_work_ns, sweep.last_ns());
  }
  if (bounds.last_work_ns == 0) return std::nullopt;
  return bounds;
}

class Phases {
 public:
  Phases(const RunState& state, const Bounds& bounds, Summary* summary)
      : state_(state),
        origin_ns_(bounds.run_start_ns),
        at_ns_(bounds.run_start_ns),
        summary_(summary) {}

  // From the end of the phase before. What begins before the run has no phase.
  PhaseSummary* AddUntil(uint64_t end_ns, const char* name) {
    if (end_ns <= at_ns_ || static_cast<double>(end_ns - at_ns_) < kShortestNs) return nullptr;
    PhaseSummary* phase = summary_->add_phases();
    phase->set_name(name);
    phase->set_start_ns(static_cast<double>(at_ns_ - origin_ns_));
    phase->set_time_ns(static_cast<double>(end_ns - at_ns_));
    if (const auto busy = BusyShare(at_ns_, end_ns)) phase->set_gpu_busy_share(*busy);
    at_ns_ = end_ns;
    return phase;
  }

  // No phase of the program's.
  void SkipUntil(uint64_t end_ns) { at_ns_ = std::max(at_ns_, end_ns); }

 private:
  // Mean of the devices that the run uses.
  std::optional<double> BusyShare(uint64_t start_ns, uint64_t end_ns) const {
    double busy_ns = 0;
    double traced_ns = 0;
    double all_ns = 0;
    for (uint32_t i = 0; i < state_.devices.size(); ++i) {
      if (!state_.devices[i].used) continue;
      const StretchContent content = state_.devices[i].ledger.Between(start_ns, end_ns);
      busy_ns += content.KernelNs();
      traced_ns += content.KernelNs() + content.CopyNs() + content.IdleNs();
      all_ns += static_cast<double>(end_ns - start_ns);
    }
    if (traced_ns <= 0 || traced_ns < kLeastTraced * all_ns) return std::nullopt;
    return std::min(1.0, busy_ns / traced_ns);
  }

  const RunState& state_;
  uint64_t origin_ns_;
  uint64_t at_ns_;
  Summary* summary_;
};

double StepsInRun(const StepsSummary& steps) {
  for (const StepLevel& level : steps.levels()) {
    if (level.name() == "step") return level.count();
  }
  return static_cast<double>(steps.steps());
}

uint64_t EndOfUntraced(const StepsSpan& span, double untraced_ns, const Bounds& bounds) {
  return std::min(bounds.run_end_ns, span.end_ns + static_cast<uint64_t>(untraced_ns));
}

void AddSteps(const RunState& state, const Analysis& analysis, const Bounds& bounds,
              const StepsSummary& steps, bool attached, Phases* phases) {
  const StepsSpan& span = *analysis.steady.steps;
  if (steps.start_ns_size() > 0) {
    const auto first_ns = static_cast<uint64_t>(std::max(0.0, steps.start_ns(0)));
    const uint64_t begin_ns = bounds.run_start_ns + first_ns;
    if (attached) {
      phases->SkipUntil(begin_ns);
    } else {
      phases->AddUntil(begin_ns, "setup");
    }
  }
  const auto warmup = static_cast<double>(steps.warmup_steps());
  if (PhaseSummary* phase = phases->AddUntil(span.start_ns, "warmup"); phase != nullptr) {
    phase->set_steps(warmup);
  }
  const double later_ns = UntracedTimeOfLaterSteps(state.devices[span.device].ledger, span);
  PhaseSummary* phase = phases->AddUntil(EndOfUntraced(span, later_ns, bounds), "steps");
  if (phase != nullptr) phase->set_steps(std::max(0.0, StepsInRun(steps) - warmup));
  if (steps.has_after_traced()) return;
  const double unknown_ns = analysis.devices[span.device].part.untraced_after_ns;
  phases->AddUntil(EndOfUntraced(span, unknown_ns, bounds), "untraced");
}

}  // namespace

void SummarizePhases(const RunState& state, const Analysis& analysis, Summary* summary) {
  const std::optional<Bounds> bounds = BoundsOf(state);
  if (!bounds.has_value()) return;
  Phases phases(state, *bounds, summary);
  // A process that was attached to had started long before.
  const bool attached = state.run_start->attached();
  if (attached) {
    phases.SkipUntil(bounds->first_work_ns);
  } else if (bounds->first_call_ns <= bounds->first_work_ns) {
    phases.AddUntil(bounds->first_call_ns, "start");
    phases.AddUntil(bounds->first_work_ns, "loading");
  } else {
    phases.AddUntil(bounds->first_work_ns, "start");
  }
  if (analysis.steady.steps.has_value() && summary->has_steps()) {
    AddSteps(state, analysis, *bounds, summary->steps(), attached, &phases);
  } else {
    phases.AddUntil(bounds->last_work_ns, "work");
  }
  phases.AddUntil(bounds->run_end_ns, "end");
}

}  // namespace utlz
