#include "collector/diagnosis/ending_notices.h"

#include <algorithm>
#include <string>
#include <vector>

#include "collector/text/number_text.h"
#include "collector/text/process_naming.h"

namespace utlz {
namespace {

// Of the time that all processes lived, what may be missing.
constexpr double kWorthSaying = 0.05;

}  // namespace

void AddEndingNotices(const RunState& state, Summary* summary) {
  double all_ns = 0;
  double lived_ns = 0;
  double lost_ns = 0;
  std::vector<pid_t> pids;
  for (const auto& [source, process] : state.processes.processes()) {
    const uint64_t begin_ns = process->info.start_time_ns();
    const bool lost = process->end.has_value() && process->end->has_lost_at_most_ns();
    const uint64_t end_ns =
        lost ? process->end->time_ns() : process->LivedUntilNs(state.NewestNs());
    if (begin_ns == 0 || end_ns <= begin_ns) continue;
    const auto process_ns = static_cast<double>(end_ns - begin_ns);
    all_ns += process_ns;
    if (!lost) continue;
    lived_ns += process_ns;
    lost_ns += std::min(process_ns, static_cast<double>(process->end->lost_at_most_ns()));
    pids.push_back(static_cast<pid_t>(process->info.pid()));
  }
  if (lost_ns <= kWorthSaying * all_ns) return;
  summary->mutable_run()->add_notices(
      "The last records of " + NameProcesses(pids) + " may be missing, up to " + TimeText(lost_ns) +
      " of the " + TimeText(lived_ns) +
      (pids.size() == 1 ? " that it lived: a signal or _exit ended it."
                        : " that they lived: a signal or _exit ended them.") +
      " Forks of Python's multiprocessing end by _exit: start workers by spawn. Stop programs by "
      "Ctrl-C.");
}

}  // namespace utlz
