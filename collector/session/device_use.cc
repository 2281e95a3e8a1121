#include "collector/session/device_use.h"

#include <algorithm>

#include "collector/gpu_uuid.h"
#include "proto/profile.pb.h"

namespace utlz {

void DeviceUse::Consume(uint16_t type, std::string_view payload) {
  if (type == FRAME_DEVICE) {
    utlz::Device device;
    if (!device.ParseFromArray(payload.data(), static_cast<int>(payload.size())) ||
        device.uuid().size() != kGpuUuidBytes) {
      return;
    }
    if (devices_.size() < kMostDevices || devices_.contains(device.ordinal())) {
      devices_[device.ordinal()].uuid = device.uuid();
    }
  } else if (type == FRAME_CONTEXT) {
    Context context;
    if (!context.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
    const auto found = devices_.find(context.device_ordinal());
    if (found != devices_.end()) found->second.used = true;
  }
}

bool DeviceUse::Uses(const std::string& uuid) const {
  const std::vector<std::string> uuids = Uuids();
  return std::find(uuids.begin(), uuids.end(), uuid) != uuids.end();
}

bool DeviceUse::has_contexts() const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [](const auto& entry) { return entry.second.used; });
}

std::vector<std::string> DeviceUse::Uuids() const {
  const bool any = has_contexts();
  std::vector<std::string> uuids;
  for (const auto& [ordinal, device] : devices_) {
    if (device.used || !any) uuids.push_back(device.uuid);
  }
  return uuids;
}

}  // namespace utlz
