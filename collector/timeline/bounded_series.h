// A value over time at even intervals, in bounded memory: when full, neighbours are joined and the
// interval doubles. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_BOUNDED_SERIES_H_
#define UTLZ_COLLECTOR_TIMELINE_BOUNDED_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace utlz {

class BoundedSeries {
 public:
  static constexpr size_t kMaxPoints = 1024;
  static constexpr uint64_t kFirstIntervalNs = 1'000'000;

  // Values of spans that fall together are averaged by their length. Spans before the first one
  // are left out.
  void Add(uint64_t start_ns, uint64_t end_ns, double value);

  bool empty() const { return points_.empty(); }
  uint64_t start_ns() const { return start_ns_; }
  uint64_t interval_ns() const { return interval_ns_; }
  // Mean over a stretch, by how long each value held; nothing where none did.
  std::optional<double> MeanBetween(uint64_t start_ns, uint64_t end_ns) const;
  struct Estimate {
    double mean = 0;
    double error = 0;    // standard, from how far the intervals differ
    double held_ns = 0;  // for how long there were values
  };
  std::optional<Estimate> EstimateBetween(uint64_t start_ns, uint64_t end_ns) const;
  // Sum of value × time, ÷ the interval: what is not known counts as zero.
  std::vector<double> SharesOfInterval() const;
  // NaN where nothing is known.
  std::vector<double> Values() const;

 private:
  struct Point {
    double sum = 0;
    double weight_ns = 0;
  };

  struct Part {
    double weight_ns;
    double mean;
  };

  void Halve();
  // Of the intervals that hold anything of a stretch.
  std::vector<Part> PartsBetween(uint64_t start_ns, uint64_t end_ns) const;
  void AddTo(Point* point, uint64_t span_ns, double value) {
    const auto weight = static_cast<double>(span_ns);
    point->sum += value * weight;
    point->weight_ns += weight;
  }

  uint64_t start_ns_ = 0;
  uint64_t interval_ns_ = kFirstIntervalNs;
  std::vector<Point> points_;
  // Where the last span ended: most follow it into the same interval.
  size_t current_ = 0;
  uint64_t current_start_ns_ = 0;
  uint64_t current_end_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_BOUNDED_SERIES_H_
