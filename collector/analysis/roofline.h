// Where a kernel stands under the roof of its device: how long its arithmetic and its DRAM traffic
// must take at the sustained peaks, at the clock that the device really ran at.
//
// roofline time = max(Σ over data types FLOPs ÷ peak of the type, bytes ÷ DRAM bandwidth)
// (S. Williams et al., "Roofline", CACM 52(4), 2009; data types add up because they share the issue
// slots of one pipe).
#ifndef UTLZ_COLLECTOR_ANALYSIS_ROOFLINE_H_
#define UTLZ_COLLECTOR_ANALYSIS_ROOFLINE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "proto/summary.pb.h"

namespace utlz {

struct DeviceState;

// A kernel is bound by what takes at least this share of its time at the peak.
inline constexpr double kBoundShare = 0.5;
// One for which neither takes this much waits for something else: latency.
inline constexpr double kLatencyShare = 0.25;

// Ceilings of one device. Zero = not known.
struct Ceilings {
  double clock_hz = 0;          // of the SMs, seen under load
  std::optional<double> clock_error_hz;  // one standard error of it, where known
  double clock_maximum_hz = 0;
  double dram_bytes_per_second = 0;
  std::map<std::string, double, std::less<>> flops_per_cycle;  // whole device, dense, by data type
  std::map<std::string, std::string, std::less<>> peak_source;
  std::string chip;
  double multiprocessors = 0;
  // What `utlz calibrate` measured this very GPU to attain; zero and empty where it did not.
  double attained_dram_bytes_per_second = 0;
  std::map<std::string, double, std::less<>> attained_flops_per_second;
  uint64_t attained_time_ns = 0;  // when

  // Nothing where the type or the clock is not known. A type that the device does not list uses
  // the peak of the type of equal width (fp16 for bf16).
  std::optional<double> FlopsPerCycle(std::string_view data_type) const;
  std::optional<double> FlopsPerSecond(std::string_view data_type) const;
  bool measured() const { return attained_time_ns != 0; }
  // Measured, of the type or of one of equal width; the peak where neither was measured.
  std::optional<double> AttainedFlopsPerSecond(std::string_view data_type) const;
  double AttainedDramBytesPerSecond() const;
};

Ceilings CeilingsOf(const DeviceState& device);

// Work of one launch, or of many.
struct RooflineWork {
  double time_ns = 0;
  bool communication = false;
  bool flops_missing = false;  // it does arithmetic that was not counted: no roofline can be given
  std::optional<double> compute_time_ns;  // at the peaks; nothing where FLOPs are not known
  std::optional<double> memory_time_ns;
  double other_compute_time_ns = 0;  // of compute_time_ns: outside tensor cores
};

// The larger of the two, nothing where neither is known.
std::optional<double> RooflineTimeNs(const RooflineWork& work);
Bound BoundOf(const RooflineWork& work);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_ROOFLINE_H_
