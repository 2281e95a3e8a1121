#include "tools/attach/thread_choice.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/attach/target/proc_file.h"

namespace utlz::attach {
namespace {

constexpr size_t kMaxThreads = 4096;
constexpr int64_t kUnfeltTimeoutMs = 100;

// Waits that keep their deadline themselves, or have none.
constexpr int64_t kPlainWaits[] = {
#ifdef SYS_poll
    SYS_poll,      SYS_select,          SYS_epoll_wait, SYS_pause,
#endif
    SYS_ppoll,     SYS_pselect6,        SYS_epoll_pwait, SYS_nanosleep, SYS_clock_nanosleep,
    SYS_read,      SYS_readv,           SYS_recvfrom,    SYS_recvmsg,   SYS_accept,
    SYS_accept4,
#ifdef SYS_epoll_pwait2
    SYS_epoll_pwait2,
#endif
};

bool IsEpollWithMilliseconds(int64_t number) {
#ifdef SYS_epoll_wait
  if (number == SYS_epoll_wait) return true;
#endif
  return number == SYS_epoll_pwait;
}

bool IsSleep(int64_t number) { return number == SYS_nanosleep || number == SYS_clock_nanosleep; }

// Lower is better.
int Rank(pid_t pid, const ThreadCandidate& candidate) {
  int rank = candidate.tid == pid ? 1 : 0;
  if (IsSleep(candidate.call.number)) rank += 2;
  if (!MayRestart(candidate.call)) rank += 4;
  if (candidate.first_look != StackVerdict::kClear) rank += 8;
  return rank;
}

}  // namespace

std::string ThreadCensus::ToString() const {
  std::vector<std::string> parts;
  const auto add = [&parts](int count, const char* what) {
    if (count > 0) parts.push_back(absl::StrCat(count, " ", what));
  };
  add(running, "running");
  add(other_calls, "in a lock or another system call");
  add(waiting, "waiting");
  return parts.empty() ? "none seen" : absl::StrJoin(parts, ", ");
}

std::optional<BlockedCall> ParseBlockedCall(const std::string& text) {
  BlockedCall call;
  const int fields = std::sscanf(
      text.c_str(),
      "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
      " %" SCNx64 " %" SCNx64,
      &call.number, &call.arguments[0], &call.arguments[1], &call.arguments[2],
      &call.arguments[3], &call.arguments[4], &call.arguments[5], &call.stack_pointer,
      &call.program_counter);
  if (fields != 9) return std::nullopt;
  return call;
}

bool IsPlainWait(int64_t number) {
  return std::find(std::begin(kPlainWaits), std::end(kPlainWaits), number) !=
         std::end(kPlainWaits);
}

bool MayRestart(const BlockedCall& call) {
  if (IsEpollWithMilliseconds(call.number)) {
    const auto timeout_ms = static_cast<int32_t>(call.arguments[3]);
    return timeout_ms < 0 || timeout_ms <= kUnfeltTimeoutMs;
  }
#ifdef SYS_epoll_pwait2
  if (call.number == SYS_epoll_pwait2) return call.arguments[3] == 0;
#endif
  return true;
}

std::vector<ThreadCandidate> FindCandidates(pid_t pid, const MemoryReader& memory,
                                            const MemoryMap& map, const CLibrary& library,
                                            ThreadCensus& census) {
  census = {};
  std::vector<ThreadCandidate> candidates;
  for (const pid_t tid : ThreadsOf(pid, kMaxThreads)) {
    const auto text = ReadSmallFile(absl::StrCat("/proc/", pid, "/task/", tid, "/syscall"), 512);
    const auto call = text.ok() ? ParseBlockedCall(*text) : std::nullopt;
    if (!call) {
      ++census.running;
      continue;
    }
    if (!IsPlainWait(call->number) || ThreadState(pid, tid) != 'S') {
      ++census.other_calls;
      continue;
    }
    ++census.waiting;
    candidates.push_back({tid, *call, ScanStack(memory, map, library, call->stack_pointer)});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [pid](const ThreadCandidate& a, const ThreadCandidate& b) {
                     return Rank(pid, a) < Rank(pid, b);
                   });
  return candidates;
}

}  // namespace utlz::attach
