#include "inject/tracing/later_windows.h"

#include "proto/tracing_cost.h"

namespace utlz::agent {
namespace {

bool ReplaysGraphs(const WorkSums& work) {
  return work.graph_nodes * LaterWindows::kLaunchesANode > work.launches;
}

}  // namespace

void LaterWindows::Paused(uint64_t now_ns, bool pausable) {
  if (state_ != RecordsState::kFromStart) return;
  state_ = pausable ? RecordsState::kPaused : RecordsState::kWindows;
  paused_ns_ = now_ns;
}

bool LaterWindows::HoldsOn(const WorkSums& recent, uint64_t tracing_cost_ns) const {
  return state_ == RecordsState::kFromStart && policy_ == LaterPolicy::kAuto &&
         recent.loads > kFewLoads && tracing_cost_ns < kMostCostWhileBeginningNs;
}

bool LaterWindows::WindowsFollow(const WorkSums& recent) const {
  if (state_ != RecordsState::kFromStart || policy_ == LaterPolicy::kAlways) return true;
  const bool known = recent.time_ns >= kLeastTimeKnownNs && recent.loads <= kFewLoads;
  if (!known || policy_ == LaterPolicy::kNever) return false;
  return ReplaysGraphs(recent) || !HookIsDearerThan(kHookOfDoubt, recent);
}

bool LaterWindows::WouldEnd(const WorkSums& before_pause) const {
  if (policy_ == LaterPolicy::kNever) return true;
  if (DecidesAlone(before_pause)) return false;
  return peers_ == PeersVote::kEnded || HookIsDearerThan(1, before_pause);
}

bool LaterWindows::DecidesAlone(const WorkSums& before_pause) const {
  // A program that still begins is not known well enough to be left alone.
  const bool begins = before_pause.loads > kFewLoads;
  return policy_ != LaterPolicy::kAuto || begins || ReplaysGraphs(before_pause);
}

bool LaterWindows::AwaitsPeers(uint64_t now_ns, const WorkSums& before_pause) {
  would_trace_ = !WouldEnd(before_pause);
  return would_trace_ && !DecidesAlone(before_pause) && peers_ == PeersVote::kUndecided &&
         now_ns < paused_ns_ + kLongestPeerWaitNs;
}

bool LaterWindows::Decide(const WorkSums& before_pause, uint64_t known_kernels) {
  const bool ends = WouldEnd(before_pause);
  state_ = ends ? RecordsState::kEnded : RecordsState::kWindows;
  new_work_ = 0;
  enough_new_work_ = known_kernels / 4 > kMuchNewWork ? known_kernels / 4 : kMuchNewWork;
  return ends;
}

RecordsVote LaterWindows::vote() const {
  switch (state_) {
    case RecordsState::kWindows:
      return RecordsVote::kWindows;
    case RecordsState::kEnded:
      return RecordsVote::kEnded;
    case RecordsState::kPaused:
      return would_trace_ ? RecordsVote::kWindows : RecordsVote::kUndecided;
    default:
      return RecordsVote::kUndecided;
  }
}

double LaterWindows::HookShare(const WorkSums& recent) {
  if (recent.time_ns == 0 || recent.launches == 0) return 0;
  const auto time_ns = static_cast<double>(recent.time_ns);
  const auto launches = static_cast<double>(recent.launches);
  const double felt = FeltShare(1 - static_cast<double>(recent.busy_ns) / time_ns);
  const double hook_ns =
      kHookShareOfTracedLaunch * static_cast<double>(TracedLaunchNs(felt, time_ns / launches));
  return felt * launches * hook_ns / time_ns;
}

void LaterWindows::SawNewWork(uint64_t kernels) {
  if (state_ != RecordsState::kEnded || policy_ == LaterPolicy::kNever) return;
  new_work_ += kernels;
  if (new_work_ >= enough_new_work_) state_ = RecordsState::kWindows;
}

}  // namespace utlz::agent
