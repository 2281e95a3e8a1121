#include "collector/live/live_processes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "collector/live/live_message.h"
#include "collector/summary/run_summary.h"

namespace utlz {
namespace {

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

LiveProcesses::State LiveProcesses::StateOf(const RunState& run_state,
                                            const ProcessState& process) {
  State state;
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
    table[process->source] = StateOf(run_state, *process);
  }
  tables_.Add(run_state.NewestNs(), std::move(table));
  history_.Update(run_state, work);
}

void LiveProcesses::AddTo(const RunState& run_state, const ProcessProgress& progress,
                          LiveSnapshot* snapshot) const {
  for (const ProcessState* process : InOrder(run_state)) {
    LiveProcess* const shown = snapshot->add_processes();
    const Process& info = process->info;
    shown->set_pid(info.host_pid() != 0 ? info.host_pid() : info.pid());
    if (info.has_rank()) shown->set_rank(info.rank());
    shown->set_live(process->live());
    shown->set_agent(WhyNotTraced(*process));
    if (const auto hfu = history_.Hfu(process->source)) shown->set_hfu(*hfu);
    const auto step_seconds = progress.StepSeconds(process->source);
    if (step_seconds.value_or(0) > 0) shown->set_step_seconds(*step_seconds);
    const auto now = tables_.newest().find(process->source);
    const auto then = tables_.oldest().find(process->source);
    if (now == tables_.newest().end() || then == tables_.oldest().end()) continue;
    const State& a = then->second;
    const State& b = now->second;
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
