// The peaks that HFU and MFU are shares of. A mix of data types is weighed by the time that the
// FLOPs counted need in each; where nothing was counted it is that of the type that such kernels
// are taken for. Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_ANALYSIS_REFERENCE_PEAK_H_
#define UTLZ_COLLECTOR_ANALYSIS_REFERENCE_PEAK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/analysis/analysis.h"

namespace utlz {

// Dense. Zero: not known.
struct ReferencePeak {
  double flops_per_second = 0;  // at the clock that was seen
  double flops_per_second_maximum_clock = 0;
  std::map<std::string, double> time_ns_by_type;
};

// Of one device of the table.
ReferencePeak PeakOf(const RunState& state, const Analysis& analysis, uint32_t device);

// Of all devices that were used together.
ReferencePeak PeakOfRun(const RunState& state, const Analysis& analysis);

// What a share of one device's time counts in a share of all: its peak; one each where the peak of
// a used one is not known. As DeviceTable; zero for what was not used.
std::vector<double> PeakWeights(const RunState& state, const Analysis& analysis);

// "bf16 93.1 %, tf32 6.9 %"
std::string DescribeTypes(const ReferencePeak& peak);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_REFERENCE_PEAK_H_
