// The longest time in a row in which a device had nothing to do.
#ifndef UTLZ_COLLECTOR_SUMMARY_LONGEST_IDLE_H_
#define UTLZ_COLLECTOR_SUMMARY_LONGEST_IDLE_H_

#include <cstdint>
#include <optional>

#include "collector/run/device_table.h"

namespace utlz {

struct IdleStretch {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

// Between activities that were traced, or where NVML saw no use of the device at all, whichever is
// longer: pauses of tracing break the former, and the latter knows of start-up too. Nothing where
// neither tells of a long one.
std::optional<IdleStretch> FindLongestIdle(const DeviceState& device);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_LONGEST_IDLE_H_
