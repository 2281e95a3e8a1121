// The most that one GPU can do, for DevicePeaks.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_DEVICE_PEAKS_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_DEVICE_PEAKS_H_

#include <string>

#include "collector/sampler/driver/cuda_devices.h"
#include "proto/profile.pb.h"

namespace utlz {

// Two transfers per DRAM clock × bus width: what the memory's interface can move. 0 = unknown.
double DramBytesPerSecond(int memory_clock_khz, int memory_bus_bits);

// Peaks known from the device's description alone. `chip` may be empty.
DevicePeaks DescribePeaks(const CudaDevice& device, const std::string& chip);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_DEVICE_PEAKS_H_
