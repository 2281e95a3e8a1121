#include "collector/alarms/fall_watch.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "collector/median.h"

namespace utlz {
namespace {

// Of a normal distribution, the standard deviation ÷ the median distance from the median.
constexpr double kScatterPerDistance = 1.4826;
// Blocks that scatter less than this are taken to scatter so: a minute of them says no more.
constexpr double kLeastScatter = 0.0025;
// A block without anything counts as so much less than the past, in logarithms.
constexpr double kLowestRate = 1e-6;
// The missing amount is capped at this many times the limit, so that the end of a fall is seen
// soon.
constexpr double kMostMissing = 1.5;

}  // namespace

void FallWatch::Add(uint64_t time_ns, double amount) {
  if (!begun_ || time_ns < block_begin_ns_ || amount < block_amount_) return Begin(time_ns, amount);
  const uint64_t length_ns = time_ns - block_begin_ns_;
  const double growth = amount - block_amount_;
  if (length_ns < kBlockNs || growth < fewest_) return;
  const uint64_t begin_ns = block_begin_ns_;
  Begin(time_ns, amount);
  AddBlock(begin_ns, growth / (static_cast<double>(length_ns) * 1e-9));
}

void FallWatch::Forget() {
  begun_ = false;
  StartOver();
}

void FallWatch::Begin(uint64_t time_ns, double amount) {
  begun_ = true;
  block_begin_ns_ = time_ns;
  block_amount_ = amount;
}

void FallWatch::AddBlock(uint64_t begin_ns, double rate) {
  const double value = std::log(std::max(rate, kLowestRate));
  if (past_.size() < kFewestBlocks) return Remember(value);
  const double level = Level();
  const double scatter = Scatter(level);
  const double slack = std::max(kSlack, kSlackScatters * scatter);
  const double most = std::max(kMostOfABlock, kSlackScatters * scatter);
  const double limit = most * static_cast<double>(kBlocksToRaise);
  missing_ += std::clamp(level - value - slack, -most, most);
  missing_ = std::clamp(missing_, 0.0, kMostMissing * limit);
  if (missing_ == 0) {
    TakeDipIn();
    Remember(value);
    return FollowRise(value, level, slack);
  }
  high_blocks_ = 0;
  if (dip_.empty()) dip_begin_ns_ = begin_ns;
  dip_.push_back(value);
  // The sum of equal parts may lie a rounding below the limit.
  constexpr double kRounding = 1 - 1e-9;
  if (fall_.has_value() || (missing_ >= kRounding * limit && dip_.size() > longest_dip_)) {
    FollowFall(begin_ns, level);
  }
}

void FallWatch::FollowFall(uint64_t begin_ns, double level) {
  const size_t count = std::min(dip_.size(), kBlocksToRaise);
  const double now = UpperMedian({dip_.end() - static_cast<ptrdiff_t>(count), dip_.end()});
  fall_ = Fall{std::exp(level), std::exp(now), dip_begin_ns_};
  if (dip_.size() < kBlocksOfAFall) return;
  const std::deque<double> stayed(dip_.end() - static_cast<ptrdiff_t>(kFewestBlocks), dip_.end());
  StartOver();
  past_ = stayed;
  dip_begin_ns_ = begin_ns;
}

void FallWatch::FollowRise(double value, double level, double slack) {
  high_blocks_ = value > level + slack ? high_blocks_ + 1 : 0;
  if (high_blocks_ < kBlocksOfARise) return;
  past_.erase(past_.begin(), past_.end() - static_cast<ptrdiff_t>(kBlocksOfARise));
  high_blocks_ = 0;
}

// It came back.
void FallWatch::TakeDipIn() {
  longest_dip_ = std::max(longest_dip_, std::min(dip_.size(), kLongestDip));
  for (const double value : dip_) Remember(value);
  dip_.clear();
  fall_.reset();
}

void FallWatch::Remember(double value) {
  past_.push_back(value);
  if (past_.size() > kMostBlocks) past_.pop_front();
}

void FallWatch::StartOver() {
  past_.clear();
  dip_.clear();
  missing_ = 0;
  high_blocks_ = 0;
  fall_.reset();
}

double FallWatch::Level() const { return UpperMedian({past_.begin(), past_.end()}); }

double FallWatch::Scatter(double level) const {
  std::vector<double> distances;
  for (const double value : past_) distances.push_back(std::abs(value - level));
  return std::max(kLeastScatter, kScatterPerDistance * UpperMedian(std::move(distances)));
}

}  // namespace utlz
