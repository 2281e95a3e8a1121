#include "collector/windows/window_times.h"

#include <algorithm>

#include "proto/ring_abi.h"

namespace utlz {

void WindowTimes::Add(const TraceWindow& window) {
  if ((window.flags() & kTraceKernels) == 0 || window.start_ns() == 0) return;
  const bool known = !windows_.empty() && windows_.back().start_ns == window.start_ns();
  if (!known) {
    const uint64_t newest_ns = windows_.empty() ? 0 : windows_.back().start_ns;
    if (windows_.size() >= kMaxWindows || window.start_ns() < newest_ns) return;
    // One whose end was never reported ended when this one began, at the latest.
    if (!windows_.empty() && windows_.back().end_ns == 0) {
      windows_.back().end_ns = window.start_ns();
    }
    const uint64_t unrecorded = windows_.empty() ? 0 : windows_.back().unrecorded;
    windows_.push_back({.start_ns = window.start_ns(), .end_ns = 0, .unrecorded = unrecorded});
  }
  if (window.end_ns() >= window.start_ns()) windows_.back().end_ns = window.end_ns();
}

void WindowTimes::AddStatus(const AgentStatus& status) {
  if (windows_.empty()) return;
  Window& window = windows_.back();
  window.recorded = status.operations_recorded();
  window.numbered = status.operations_numbered();
  window.ended = window.ended || status.records_state() == RECORDS_ENDED;
  if (status.has_operations_in_gaps()) window.in_gaps = status.operations_in_gaps();
  window.unrecorded = windows_.size() > 1 ? windows_[windows_.size() - 2].unrecorded : 0;
  if (window.numbered > window.recorded) {
    window.unrecorded = std::max(window.unrecorded, window.numbered - window.recorded);
  }
}

void WindowTimes::CountOperations(Place place, uint32_t operations) {
  if (windows_.empty()) return;
  Window& window = windows_.back();
  if (place.slice > window.slice) {
    window.in_slice_before = place.slice == window.slice + 1 ? window.in_slice : 0;
    window.in_slice = 0;
    window.slice = place.slice;
  }
  if (place.slice == 0) window.in_head += operations;
  if (place.slice == window.slice) {
    window.in_slice += operations;
  } else if (place.slice + 1 == window.slice) {
    window.in_slice_before += operations;
  }
}

uint64_t WindowTimes::TailOperations(uint32_t window, uint64_t now_ns) const {
  const Window& entry = windows_[window];
  const uint32_t tail = TailSlice(window, now_ns);
  uint64_t operations = 0;
  if (entry.slice > tail) operations += entry.in_slice_before;
  if (entry.slice >= tail) operations += entry.in_slice;
  return operations;
}

WindowTimes::Place WindowTimes::PlaceOf(uint64_t start_ns) const {
  if (windows_.empty()) return {0, 0};
  const auto newest = static_cast<uint32_t>(windows_.size() - 1);
  const Window& window = windows_.back();
  if (start_ns <= window.start_ns) return {newest, 0};
  auto slice = static_cast<uint32_t>((start_ns - window.start_ns) / kSliceNs);
  if (window.end_ns != 0) slice = std::min(slice, LastSlice(newest, window.end_ns));
  return {newest, slice};
}

uint64_t WindowTimes::LengthNs(uint32_t window, uint64_t now_ns) const {
  const uint64_t end_ns = windows_[window].end_ns != 0 ? windows_[window].end_ns : now_ns;
  return end_ns > windows_[window].start_ns ? end_ns - windows_[window].start_ns : 0;
}

uint32_t WindowTimes::LastSlice(uint32_t window, uint64_t now_ns) const {
  const uint64_t length_ns = LengthNs(window, now_ns);
  return length_ns == 0 ? 0 : static_cast<uint32_t>((length_ns - 1) / kSliceNs);
}

uint32_t WindowTimes::TailSlice(uint32_t window, uint64_t now_ns) const {
  const uint32_t last = LastSlice(window, now_ns);
  if (last == 0) return 0;
  const bool long_enough = LengthNs(window, now_ns) - last * kSliceNs >= kSliceNs / 2;
  return window == 0 && long_enough ? last : last - 1;
}

uint64_t WindowTimes::TailNs(uint32_t window, uint64_t now_ns) const {
  return LengthNs(window, now_ns) - TailSlice(window, now_ns) * kSliceNs;
}

uint64_t WindowTimes::HeadNs(uint32_t window, uint64_t now_ns) const {
  return std::min(LengthNs(window, now_ns), kSliceNs);
}

}  // namespace utlz
