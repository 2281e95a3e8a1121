#include "collector/sampler/counters/device_peaks.h"

#include "absl/strings/str_cat.h"
#include "collector/sampler/counters/peak_rates.h"

namespace utlz {

double DramBytesPerSecond(int memory_clock_khz, int memory_bus_bits) {
  if (memory_clock_khz <= 0 || memory_bus_bits <= 0) return 0;
  return 2.0 * memory_clock_khz * 1e3 * memory_bus_bits / 8;
}

DevicePeaks DescribePeaks(const CudaDevice& device, const std::string& chip) {
  DevicePeaks peaks;
  peaks.set_device_uuid(device.uuid);
  peaks.set_chip(chip);
  peaks.set_name(device.name);
  peaks.set_pci_bus(device.pci_bus);
  peaks.set_memory_bytes(device.memory_bytes);
  peaks.set_multiprocessors(static_cast<uint32_t>(device.multiprocessors));
  peaks.set_sm_clock_maximum_hz(device.sm_clock_khz * 1e3);
  peaks.set_dram_bytes_per_second(
      DramBytesPerSecond(device.memory_clock_khz, device.memory_bus_bits));
  const int major = device.compute_capability_major;
  const int minor = device.compute_capability_minor;
  for (const PeakRate& rate : PeakRates(major, minor)) {
    DevicePeaks::Pipe* pipe = peaks.add_pipe();
    pipe->set_data_type(rate.data_type);
    pipe->set_flops_per_cycle(rate.flops_per_cycle * device.multiprocessors);
    pipe->set_source(absl::StrCat("documented rate of compute capability ", major, ".", minor));
  }
  return peaks;
}

}  // namespace utlz
