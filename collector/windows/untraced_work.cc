#include "collector/windows/untraced_work.h"

#include <algorithm>

namespace utlz {
namespace {

// A longer pause after a window may hold work that was launched after it: what is recorded later
// says nothing of that time.
constexpr uint64_t kLongestPauseNs = 1'000'000;
// Of the longest lead four fifths count in the next window.
constexpr uint64_t kLeadKept = 4;
constexpr uint64_t kLeadWhole = 5;

}  // namespace

// Kernels and copies come apart: what came later may have run in what seemed to be a pause.
void UntracedWork::Work::Add(uint64_t start_ns, uint64_t end_ns) {
  if (start_ns <= until_pause_ns_ + kLongestPauseNs) {
    until_pause_ns_ = std::max(until_pause_ns_, end_ns);
    if (pause_end_ns_ <= until_pause_ns_ + kLongestPauseNs) pause_end_ns_ = 0;
  }
  if (until_ns_ != 0 && start_ns > until_ns_ + kLongestPauseNs) {
    until_pause_ns_ = until_ns_;
    pause_end_ns_ = start_ns;
  }
  until_ns_ = std::max(until_ns_, end_ns);
}

uint64_t UntracedWork::Work::EndBeyond(uint64_t time_ns) const {
  const bool paused_later = pause_end_ns_ > time_ns + kLongestPauseNs;
  return std::max(time_ns, paused_later ? until_pause_ns_ : until_ns_);
}

// A GPU that was idle when the window opened was so for a true part of its time. So no more is left
// out there than what the program's lead over its GPU explains.
std::optional<UntracedGap> UntracedWork::Settle() {
  if (!gap_.has_value()) return std::nullopt;
  UntracedGap untraced = *gap_;
  untraced.start_ns = std::min(EndOfWork(gap_->start_ns), gap_->end_ns);
  const uint64_t lead_ns = untraced.start_ns - gap_->start_ns;
  longest_lead_ns_ = std::max(lead_ns, longest_lead_ns_ / kLeadWhole * kLeadKept);
  if (has_work_after()) {
    untraced.end_ns = std::min(first_ns_, gap_->end_ns + longest_lead_ns_);
  }
  gap_.reset();
  if (has_work_after()) before_ = after_;
  after_ = {};
  first_ns_ = UINT64_MAX;
  if (untraced.end_ns <= untraced.start_ns) return std::nullopt;
  return untraced;
}

}  // namespace utlz
