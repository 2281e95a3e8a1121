// Exact counts of user ranges: tensor operations by data type over everything that was launched
// between two idle moments of a context, joined to the kernels that were launched there
// (flop_solver.h makes kernels' operations of them).
//
// Ranges are held until the launches in them are complete, then reduced to one row per different
// mix of kernels, so memory is bounded by the number of mixes (kMaxRows).
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_COUNTERS_RANGE_CALIBRATION_H_
#define UTLZ_COLLECTOR_COUNTERS_RANGE_CALIBRATION_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collector/attribution/flop_solver.h"
#include "collector/timeline/activity.h"
#include "proto/profile.pb.h"

namespace utlz {

class RangeCalibration {
 public:
  static constexpr size_t kMaxRows = 512;
  static constexpr size_t kMaxPending = 4096;
  static constexpr size_t kMaxKernelsInRange = 4096;

  // False where the message does not agree with itself; then nothing was taken.
  bool Add(uint32_t source, uint32_t device, const RangeBatch& batch);
  // Launches of any device in order of start.
  void AddActivity(uint32_t device, const Activity& activity);
  // Launches of the device that start before this are complete.
  void AdvanceTo(uint32_t device, uint64_t time_ns);

  bool empty() const { return rows_.empty(); }
  uint64_t ranges() const { return ranges_; }
  uint64_t discarded() const { return discarded_; }

  // Each different mix of kernels, and what one range of it counted on average.
  std::vector<CountedMix> Mixes() const;

 private:
  using Counts = std::map<std::string, FlopCount>;  // by data type

  struct Range {
    uint32_t source;
    uint32_t device;
    uint32_t context;
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t launches;       // by the program's calls; a whole graph is one
    uint32_t seen_launches;  // of these
    Counts counts;
    std::map<uint32_t, uint32_t> kernels;  // launches inside, nodes of graphs included
  };
  struct Row {
    uint64_t ranges = 0;
    Counts counts;  // sums over the ranges
    std::map<std::string, double> squares;  // of the ranges' distances from the first one's counts
    Counts first;
  };

  static Counts CountsOf(const RangeBatch& batch, const RangeBatch::Range& range);
  void Keep(Range range);

  std::vector<Range> pending_;
  std::map<std::map<uint32_t, uint32_t>, Row> rows_;  // by the mix of kernels
  uint64_t ranges_ = 0;
  uint64_t discarded_ = 0;
};

// Data type whose operations a range's metric counts ("bf16" of
// "sm__ops_path_tensor_src_bf16_dst_fp32.sum"); empty for other metrics.
std::string_view DataTypeOfOperationsMetric(std::string_view metric);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_RANGE_CALIBRATION_H_
