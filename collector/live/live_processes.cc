#include "collector/live/live_processes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "collector/live/live_message.h"
#include "collector/summary/run_summary.h"

namespace utlz {
namespace {

// Where counters know less of the kernels' time, they do not speak for the rest.
constexpr double kEnoughCounted = 0.5;

std::string WhyNotTraced(const ProcessState& process) {
  const std::string agent = DescribeAgent(process);
  return agent == "traced" ? std::string() : agent;
}

// Those that live first, then those with most kernel time.
std::vector<const ProcessState*> InOrder(const RunState& run_state) {
  std::vector<const ProcessState*> order;
  for (const auto& [source, process] : run_state.processes.processes()) {
    if (process->info.pid() != 0) order.push_back(process.get());
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    if (a->live() != b->live()) return a->live();
    return a->kernel_time_ns > b->kernel_time_ns;
  });
  if (order.size() > kMaxLiveProcesses) order.resize(kMaxLiveProcesses);
  return order;
}

}  // namespace

LiveProcesses::State LiveProcesses::StateOf(const RunState& run_state, const WorkLedger& work,
                                            const ProcessState& process) {
  State state;
  state.known_ns = static_cast<double>(process.LivedUntilNs(run_state.NewestNs())) *
                   static_cast<double>(std::max<size_t>(process.DevicesUsed().size(), 1));
  for (const auto& [pair, sum] : work.sums()) {
    if (pair.second != process.source) continue;
    for (const FamilyWork& family : sum.families) state.kernel_ns += family.time_ns;
    state.uncounted_ns += sum.flops_uncounted_ns;
    state.peak_ns += sum.peak_ns.value_or(0);
  }
  state.traced_kernel_ns = static_cast<double>(process.kernel_time_ns);
  if (process.coverage.known()) {
    state.traced_ns =
        static_cast<double>(process.coverage.TracedNs(process.LivedUntilNs(run_state.NewestNs())));
  }
  return state;
}

void LiveProcesses::Update(const RunState& run_state, const WorkLedger& work) {
  Table table;
  for (const ProcessState* process : InOrder(run_state)) {
    table[process->source] = StateOf(run_state, work, *process);
  }
  tables_.Add(run_state.NewestNs(), std::move(table));
}

void LiveProcesses::AddTo(const RunState& run_state, LiveSnapshot* snapshot) const {
  for (const ProcessState* process : InOrder(run_state)) {
    LiveProcess* const shown = snapshot->add_processes();
    const Process& info = process->info;
    shown->set_pid(info.host_pid() != 0 ? info.host_pid() : info.pid());
    if (info.has_rank()) shown->set_rank(info.rank());
    shown->set_live(process->live());
    shown->set_agent(WhyNotTraced(*process));
    const auto now = tables_.newest().find(process->source);
    const auto then = tables_.oldest().find(process->source);
    if (now == tables_.newest().end() || then == tables_.oldest().end()) continue;
    const State& a = then->second;
    const State& b = now->second;
    const double known_ns = b.known_ns - a.known_ns;
    const double kernel_ns = b.kernel_ns - a.kernel_ns;
    const double uncounted_ns = b.uncounted_ns - a.uncounted_ns;
    if (known_ns > 0 && b.peak_ns > 0 && uncounted_ns <= kEnoughCounted * kernel_ns) {
      const double scale = kernel_ns > uncounted_ns ? kernel_ns / (kernel_ns - uncounted_ns) : 1.0;
      shown->set_hfu(std::clamp((b.peak_ns - a.peak_ns) * scale / known_ns, 0.0, 1.0));
    }
    if (b.traced_ns > a.traced_ns) {
      shown->set_kernel_share(std::clamp(
          (b.traced_kernel_ns - a.traced_kernel_ns) / (b.traced_ns - a.traced_ns), 0.0, 1.0));
    }
    const auto lived_ns = static_cast<double>(process->LivedUntilNs(run_state.NewestNs()) -
                                              std::min(process->first_ns, run_state.NewestNs()));
    if (process->first_ns != 0 && lived_ns > 0) {
      shown->set_traced_share(std::min(1.0, b.traced_ns / lived_ns));
    }
  }
}

}  // namespace utlz
