// Is a context idle? CUPTI's callbacks report every driver call, so it knows which streams have
// work that no synchronization has waited for yet. Conservative: work that it cannot place makes
// the whole context busy until cuCtxSynchronize.
//
// Thread-safe; no lock, no allocation. Used only while ranges are being taken.
#ifndef UTLZ_INJECT_RANGES_IDLE_TRACKER_H_
#define UTLZ_INJECT_RANGES_IDLE_TRACKER_H_

#include <atomic>
#include <cstdint>

#include "inject/driver/cupti_abi.h"

namespace utlz::agent {

class IdleTracker {
 public:
  // Begins anew. Work of before may still run: with several streams everything is taken to be busy
  // until the first cuCtxSynchronize; where the process has only ever used one stream, that
  // stream's own synchronization is enough.
  void Reset(bool one_stream_only);
  // A driver call begins (`at_exit` false) or returns. True where the context is idle now, on the
  // exit of a synchronization that the program itself made.
  bool OnDriverCall(const cupti::CallbackData& call, bool at_exit);
  // Whether it is, as far as has been seen.
  bool Idle() const;
  // Launches of kernels and graphs seen since the last call of this.
  uint32_t TakeLaunches() { return launches_.exchange(0, std::memory_order_relaxed); }

 private:
  void MarkBusy(uintptr_t stream);
  void MarkIdle(uintptr_t stream);

  static constexpr uint32_t kStreams = 64;
  std::atomic<bool> all_busy_{true};
  // Handle + 1 of each stream with work, 0 = free slot.
  std::atomic<uintptr_t> busy_[kStreams] = {};
  std::atomic<uint32_t> launches_{0};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RANGES_IDLE_TRACKER_H_
