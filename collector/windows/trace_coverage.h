// How much of a process's life was traced, from its TraceWindow frames (kernels only).
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_WINDOWS_TRACE_COVERAGE_H_
#define UTLZ_COLLECTOR_WINDOWS_TRACE_COVERAGE_H_

#include <cstdint>
#include <optional>

#include "proto/profile.pb.h"

namespace utlz {

struct UntracedGap {
  uint64_t start_ns;
  uint64_t end_ns;
};

class TraceCoverage {
 public:
  // A window that opens (end 0), and later the same one closed. Returns the stretch without
  // tracing that the window ended, if there was one.
  std::optional<UntracedGap> Add(const TraceWindow& window);

  bool known() const { return windows_ > 0; }
  bool markers() const { return markers_; }  // NVTX was recorded too
  bool open() const { return open_start_ns_ != 0; }
  // Time inside windows, an open one counted up to `now_ns`.
  uint64_t TracedNs(uint64_t now_ns) const;
  // When the first window opened; 0 where none has yet.
  uint64_t FirstStartNs() const { return first_start_ns_; }
  // Since when nothing is traced, where no window is open after one that was closed.
  std::optional<uint64_t> UntracedSinceNs() const {
    if (open_start_ns_ != 0 || last_end_ns_ == 0) return std::nullopt;
    return last_end_ns_;
  }
  uint64_t UntracedNs() const { return untraced_ns_; }  // between windows
  // The stretch since the last window was closed, if that was long before `now_ns`: tracing was
  // asked to end, or paused and never went on.
  std::optional<UntracedGap> Tail(uint64_t now_ns) const;

 private:
  uint64_t windows_ = 0;
  bool markers_ = false;
  uint64_t first_start_ns_ = 0;
  uint64_t closed_ns_ = 0;      // inside closed windows
  uint64_t untraced_ns_ = 0;    // between windows
  uint64_t open_start_ns_ = 0;  // 0 = no window is open
  uint64_t last_end_ns_ = 0;    // of the latest closed window
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_WINDOWS_TRACE_COVERAGE_H_
