// Devices of the run, joined across processes and the sampler by UUID.
//
// Bounded to kMaxDevices; targets can invent no more. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_DEVICE_TABLE_H_
#define UTLZ_COLLECTOR_RUN_DEVICE_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/run/device_state.h"

namespace utlz {

class DeviceTable {
 public:
  static constexpr size_t kMaxDevices = 256;

  // Index of the device with these 16 bytes, made where it is new; nothing when there are too many
  // or the UUID has another length (empty is allowed).
  std::optional<uint32_t> Find(std::string_view uuid);

  DeviceState& operator[](uint32_t index) { return *devices_[index]; }
  const DeviceState& operator[](uint32_t index) const { return *devices_[index]; }
  size_t size() const { return devices_.size(); }

 private:
  std::vector<std::unique_ptr<DeviceState>> devices_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_DEVICE_TABLE_H_
