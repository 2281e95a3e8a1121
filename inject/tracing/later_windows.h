// Whether kernels are recorded again after the first pause. CUPTI 13.0 and 12.8 put a hook into
// every launch while kernels are recorded. Where records were on before CUDA had a context, and
// never again since, switching them off for the process takes the hook out again; after a second
// time nothing does, whatever is switched off (docs/measurements/price.md). So a program whose
// launches cost it time may be recorded once, from its start, and then left alone.
//
//   kFromStart ──pause──▶ kPaused ──decision──▶ kEnded ──much new work──▶ kWindows
//        │                   └──────────────────────────────────────────────▲
//        └── started late, or windows are always wanted ──────────────────▲
//
// Processes that compute together, as ranks do, decide alike: where one has ended its records, the
// others end theirs. Each waits for the others at every collective, so the hook in one delays all;
// and a GPU that waits there for a host-bound rank looks busy.
//
// Agent's thread only.
#ifndef UTLZ_INJECT_TRACING_LATER_WINDOWS_H_
#define UTLZ_INJECT_TRACING_LATER_WINDOWS_H_

#include <cstdint>

#include "inject/record/recent_work.h"
#include "proto/ring_abi.h"

namespace utlz::agent {

// As AgentStatus::records_state has them.
enum class RecordsState : uint32_t {
  kNone = 0,
  kFromStart = 1,  // recorded since before CUDA had a context
  kPaused = 2,     // for the first time, undecided
  kWindows = 3,    // the hook stays in the program for good
  kEnded = 4,      // the hook is out
};

enum class LaterPolicy : uint32_t { kAuto, kAlways, kNever };

class LaterWindows {
 public:
  // What was launched before a pause has mostly run by then.
  static constexpr uint64_t kDecisionNs = 300'000'000;
  // What has not run by then is not waited for.
  static constexpr uint64_t kLongestWaitNs = 10'000'000'000;
  // So long after the pause, peers that have not decided are not waited for.
  static constexpr uint64_t kLongestPeerWaitNs = 1'500'000'000;
  // If CUDA loaded more kernels than this in the time that is looked at, the program is still
  // beginning.
  static constexpr uint64_t kFewLoads = 2;
  // While a program begins, records go on until they have cost this much.
  static constexpr uint64_t kMostCostWhileBeginningNs = 150'000'000;
  // Nodes of graphs that were made while kernels were recorded go on being recorded until they are
  // switched on and off again, so the hook stays in programs that launch many.
  static constexpr uint64_t kLaunchesANode = 10;
  // Where the hook costs less than so many budgets, the decision may turn out either way.
  static constexpr double kHookOfDoubt = 1.5;
  // Work of less than this time does not tell whether a program waits for its launches.
  static constexpr uint64_t kLeastTimeKnownNs = 500'000'000;
  // Fewer kernels that are new after records have ended are not worth the hook.
  static constexpr uint64_t kMuchNewWork = 8;

  // `from_start`: records were switched on for the process before CUDA had a context.
  void Start(LaterPolicy policy, uint32_t budget_ppm, bool from_start) {
    policy_ = policy;
    budget_ppm_ = budget_ppm;
    const bool ends = from_start && budget_ppm != 0 && policy != LaterPolicy::kAlways;
    state_ = ends ? RecordsState::kFromStart : RecordsState::kWindows;
  }
  // Records were switched on again, or by context.
  void SwitchedOn() { state_ = RecordsState::kWindows; }
  // They were switched off; `pausable` says that it was done by context, and for all of them.
  void Paused(uint64_t now_ns, bool pausable);
  // Whether records may go on although the account is spent: the program only begins.
  bool HoldsOn(const WorkSums& recent, uint64_t tracing_cost_ns) const;
  // Whether windows may well follow the first pause, as far as `recent` tells.
  bool WindowsFollow(const WorkSums& recent) const;
  // Whether a window may begin.
  bool MayTrace() const {
    return state_ == RecordsState::kFromStart || state_ == RecordsState::kWindows;
  }
  // Whether it is time to decide, and then what: true ends records for the process.
  bool Due(uint64_t now_ns) const {
    return state_ == RecordsState::kPaused && now_ns >= paused_ns_ + kDecisionNs;
  }
  // Whether that would end records, which has to wait until everything that was recorded has run.
  bool WouldEnd(const WorkSums& before_pause) const;
  bool WaitedLongEnough(uint64_t now_ns) const { return now_ns >= paused_ns_ + kLongestWaitNs; }
  // What those have decided with whom the process computes.
  void SetPeers(PeersVote peers) { peers_ = peers; }
  // Whether the decision waits for a peer's: it would be for windows.
  bool AwaitsPeers(uint64_t now_ns, const WorkSums& before_pause);
  bool Decide(const WorkSums& before_pause, uint64_t known_kernels);
  // Kernels that were loaded since the end.
  void SawNewWork(uint64_t kernels);

  RecordsState state() const { return state_; }
  RecordsVote vote() const;

  // What the hook costs a program that goes on like this, as a share of its time. One whose GPU
  // never waits for it does not feel the hook.
  static double HookShare(const WorkSums& recent);

 private:
  // What a peer has decided changes nothing for a program that is like this.
  bool DecidesAlone(const WorkSums& before_pause) const;
  bool HookIsDearerThan(double budgets, const WorkSums& recent) const {
    return HookShare(recent) > budgets * budget_ppm_ / 1e6;
  }

  LaterPolicy policy_ = LaterPolicy::kAlways;
  RecordsState state_ = RecordsState::kNone;
  uint32_t budget_ppm_ = 0;
  uint64_t paused_ns_ = 0;
  PeersVote peers_ = PeersVote::kNone;
  bool would_trace_ = false;  // but for the peers
  uint64_t new_work_ = 0;
  uint64_t enough_new_work_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_LATER_WINDOWS_H_
