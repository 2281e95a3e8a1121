// Whether somebody else uses a GPU, and its clock, by NVML.
#ifndef UTLZ_TOOLS_CALIBRATE_IDLE_CHECK_H_
#define UTLZ_TOOLS_CALIBRATE_IDLE_CHECK_H_

#include <optional>
#include <string>

#include "collector/sampler/driver/nvml_table.h"

namespace utlz {

class NvmlDevice {
 public:
  // `uuid` of 16 bytes. Without NVML, or without this device in it, nothing is
  // known.
  explicit NvmlDevice(const std::string& uuid);

  // The highest utilization that NVML shows within a second, 0…1; nothing where
  // it shows none.
  std::optional<double> BusyShare() const;
  std::optional<double> SmClockHz() const;
  std::string driver_version() const;

 private:
  std::optional<NvmlTable> table_;
  nvml::DeviceHandle* handle_ = nullptr;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_CALIBRATE_IDLE_CHECK_H_
