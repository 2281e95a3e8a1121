#include "collector/windows/trace_coverage.h"

#include <algorithm>

#include "proto/ring_abi.h"

namespace utlz {
namespace {

// An agent closes its last window some time before it can say that the process ended.
constexpr uint64_t kLongestShutdownNs = 100'000'000;

}  // namespace

std::optional<UntracedGap> TraceCoverage::Add(const TraceWindow& window) {
  if ((window.flags() & kTraceKernels) == 0 || window.start_ns() == 0) return std::nullopt;
  markers_ = markers_ || (window.flags() & kTraceMarkers) != 0;
  std::optional<UntracedGap> gap;
  if (open_start_ns_ != window.start_ns()) {
    if (windows_++ == 0) first_start_ns_ = window.start_ns();
    if (last_end_ns_ != 0 && window.start_ns() > last_end_ns_) {
      gap = {last_end_ns_, window.start_ns()};
      untraced_ns_ += window.start_ns() - last_end_ns_;
    }
    open_start_ns_ = window.start_ns();
  }
  if (window.end_ns() != 0) {
    closed_ns_ += window.end_ns() > window.start_ns() ? window.end_ns() - window.start_ns() : 0;
    last_end_ns_ = std::max(last_end_ns_, window.end_ns());
    open_start_ns_ = 0;
  }
  return gap;
}

uint64_t TraceCoverage::TracedNs(uint64_t now_ns) const {
  const bool open = open_start_ns_ != 0 && now_ns > open_start_ns_;
  return closed_ns_ + (open ? now_ns - open_start_ns_ : 0);
}

std::optional<UntracedGap> TraceCoverage::Tail(uint64_t now_ns) const {
  const auto closed_ns = UntracedSinceNs();
  if (!closed_ns.has_value() || now_ns <= *closed_ns + kLongestShutdownNs) return std::nullopt;
  return UntracedGap{*closed_ns, now_ns};
}

}  // namespace utlz
