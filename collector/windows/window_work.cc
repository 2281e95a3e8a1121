#include "collector/windows/window_work.h"

namespace utlz {
namespace {

// Of what ran in a gap, from what ran on its two sides.
double Variance(const WindowGaps::Sides& sides, double tail_ns, double head_ns) {
  const double apart_ns = sides.gap_of_tail * tail_ns - sides.gap_of_head * head_ns;
  return sides.error_share * apart_ns * sides.error_share * apart_ns;
}

}  // namespace

KernelSum& KernelSum::operator+=(const KernelSum& other) {
  launches += other.launches;
  time_ns += other.time_ns;
  return *this;
}

void WeighedWork::Add(const WindowGaps& gaps, uint32_t gap, const KernelSum& beside,
                      uint64_t now_ns) {
  const std::optional<uint32_t> pool = gaps.PoolOf(gap);
  if (!pool.has_value()) {
    weighed_ += beside * gaps.Weight(gap, now_ns);
    return;
  }
  if (*pool != pool_) {
    weighed_ = Sum(gaps, now_ns);
    in_pool_ = {};
    pool_ = *pool;
  }
  in_pool_ += beside;
}

KernelSum WeighedWork::Sum(const WindowGaps& gaps, uint64_t now_ns) const {
  KernelSum sum = weighed_;
  if (in_pool_.launches > 0) sum += in_pool_ * gaps.PoolWeight(pool_, now_ns);
  return sum;
}

void WindowWork::Add(const WindowTimes& times, WindowTimes::Place place, const KernelSum& work) {
  if (times.empty()) return;
  if (place.window != window_) EnterWindow(times, place.window);
  if (place.slice > slice_) EnterSlice(place.slice);
  if (place.slice == 0) head_ += work;
  if (place.slice == slice_) {
    slice_sum_ += work;
  } else if (place.slice + 1 == slice_) {
    before_sum_ += work;
  }
}

void WindowWork::EnterWindow(const WindowTimes& times, uint32_t window) {
  constexpr uint64_t kNowNs = 0;  // the windows before the newest one have ended
  earlier_variance_ += VarianceBefore(times, kNowNs);
  AddBefore(times, kNowNs, &earlier_);
  tail_ = Tail(times, kNowNs);
  tail_window_ = window_;
  window_ = window;
  slice_ = 0;
  head_ = slice_sum_ = before_sum_ = {};
}

void WindowWork::EnterSlice(uint32_t slice) {
  before_sum_ = slice == slice_ + 1 ? slice_sum_ : KernelSum{};
  slice_sum_ = {};
  slice_ = slice;
}

KernelSum WindowWork::InGaps(const WindowTimes& times, uint64_t now_ns) const {
  const WindowGaps gaps(times);
  WeighedWork work = earlier_;
  if (!times.empty()) {
    AddBefore(times, now_ns, &work);
    work.Add(gaps, window_, Tail(times, now_ns), now_ns);
  }
  return work.Sum(gaps, now_ns);
}

double WindowWork::TimeVarianceInGaps(const WindowTimes& times, uint64_t now_ns) const {
  double variance = earlier_variance_;
  if (times.empty()) return variance;
  variance += VarianceBefore(times, now_ns);
  // Of a kernel that no later window has seen.
  const auto after = WindowGaps(times).SidesOf(window_, now_ns);
  if (after) variance += Variance(*after, Tail(times, now_ns).time_ns, 0);
  return variance;
}

// Of the gap before window_, and of the one after tail_window_ where that is another.
double WindowWork::VarianceBefore(const WindowTimes& times, uint64_t now_ns) const {
  const auto after_tail = WindowGaps(times).SidesOf(tail_window_, now_ns);
  const auto before_head =
      window_ == 0 ? std::nullopt : WindowGaps(times).SidesOf(window_ - 1, now_ns);
  if (after_tail && after_tail->after == window_) {
    return Variance(*after_tail, tail_.time_ns, head_.time_ns);
  }
  return (after_tail ? Variance(*after_tail, tail_.time_ns, 0) : 0) +
         (before_head ? Variance(*before_head, 0, head_.time_ns) : 0);
}

// In the gaps after tail_window_ and before window_.
void WindowWork::AddBefore(const WindowTimes& times, uint64_t now_ns, WeighedWork* work) const {
  const WindowGaps gaps(times);
  work->Add(gaps, tail_window_, tail_, now_ns);
  if (window_ > 0) work->Add(gaps, window_ - 1, head_, now_ns);
}

KernelSum WindowWork::Tail(const WindowTimes& times, uint64_t now_ns) const {
  const uint32_t first = times.TailSlice(window_, now_ns);
  KernelSum tail;
  if (slice_ > first) tail += before_sum_;
  if (slice_ >= first) tail += slice_sum_;
  return tail;
}

}  // namespace utlz
