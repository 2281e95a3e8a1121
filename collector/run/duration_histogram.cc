#include "collector/run/duration_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace utlz {
namespace {

constexpr uint32_t kBucketsPerOctaveLog2 = 5;
constexpr uint32_t kBucketsPerOctave = 1u << kBucketsPerOctaveLog2;

// Values below 64 have a bucket each; above, the top six bits of a value name its bucket.
uint32_t BucketOf(uint64_t value) {
  if (value < 2 * kBucketsPerOctave) return static_cast<uint32_t>(value);
  const uint32_t shift = static_cast<uint32_t>(std::bit_width(value)) - 1 - kBucketsPerOctaveLog2;
  return shift * kBucketsPerOctave + static_cast<uint32_t>(value >> shift);
}

double LowerEdge(uint32_t bucket) {
  if (bucket < 2 * kBucketsPerOctave) return bucket;
  const uint32_t shift = bucket / kBucketsPerOctave - 1;
  return std::ldexp(static_cast<double>(bucket - shift * kBucketsPerOctave),
                    static_cast<int>(shift));
}

// Seldom: a kernel's durations are alike.
[[gnu::noinline]] void MakeRoom(uint32_t bucket, uint32_t* first, std::vector<uint64_t>* buckets) {
  if (buckets->empty()) *first = bucket;
  if (bucket < *first) {
    buckets->insert(buckets->begin(), *first - bucket, 0);
    *first = bucket;
  } else {
    buckets->resize(bucket - *first + 1, 0);
  }
}

}  // namespace

void DurationHistogram::Add(uint64_t duration_ns) {
  const uint32_t bucket = BucketOf(duration_ns);
  // Also where it lies before the first: the difference wraps around.
  if (bucket - first_bucket_ >= buckets_.size()) MakeRoom(bucket, &first_bucket_, &buckets_);
  ++buckets_[bucket - first_bucket_];
  ++count_;
  sum_ns_ += duration_ns;
  const auto duration = static_cast<double>(duration_ns);
  sum_of_squares_ += duration * duration;
  minimum_ns_ = std::min(minimum_ns_, duration_ns);
  maximum_ns_ = std::max(maximum_ns_, duration_ns);
}

double DurationHistogram::mean_ns() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_ns_) / static_cast<double>(count_);
}

double DurationHistogram::standard_deviation_ns() const {
  if (count_ < 2) return 0;
  const auto count = static_cast<double>(count_);
  const double mean = mean_ns();
  const double variance = (sum_of_squares_ / count - mean * mean) * count / (count - 1);
  return variance > 0 ? std::sqrt(variance) : 0;
}

DurationHistogram DurationHistogram::Slice(uint64_t minimum_ns, uint64_t maximum_ns) const {
  DurationHistogram slice;
  double all = 0;
  double sliced = 0;
  for (uint32_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] == 0) continue;
    const double middle = (LowerEdge(first_bucket_ + i) + LowerEdge(first_bucket_ + i + 1)) / 2;
    const auto count = static_cast<double>(buckets_[i]);
    all += middle * count;
    if (middle < static_cast<double>(minimum_ns) || middle >= static_cast<double>(maximum_ns)) {
      continue;
    }
    sliced += middle * count;
    if (slice.buckets_.empty()) slice.first_bucket_ = first_bucket_ + i;
    slice.buckets_.resize(first_bucket_ + i - slice.first_bucket_ + 1, 0);
    slice.buckets_.back() = buckets_[i];
    slice.count_ += buckets_[i];
    slice.sum_of_squares_ += middle * middle * count;
  }
  if (slice.count_ == 0) return slice;
  slice.sum_ns_ = static_cast<uint64_t>(static_cast<double>(sum_ns_) * (sliced / all) + 0.5);
  slice.minimum_ns_ = std::max(minimum_ns_, minimum_ns);
  slice.maximum_ns_ = std::min(maximum_ns_, maximum_ns);
  return slice;
}

double DurationHistogram::QuantileNs(double share) const {
  if (count_ == 0) return 0;
  const double rank = std::clamp(share, 0.0, 1.0) * static_cast<double>(count_);
  double below = 0;
  for (uint32_t i = 0; i < buckets_.size(); ++i) {
    const auto here = static_cast<double>(buckets_[i]);
    if (here > 0 && below + here >= rank) {
      const double lower = LowerEdge(first_bucket_ + i);
      const double upper = LowerEdge(first_bucket_ + i + 1);
      const double value = lower + (upper - lower) * std::max(0.0, rank - below) / here;
      return std::clamp(value, static_cast<double>(minimum_ns_), static_cast<double>(maximum_ns_));
    }
    below += here;
  }
  return static_cast<double>(maximum_ns_);
}

}  // namespace utlz
