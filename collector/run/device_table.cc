#include "collector/run/device_table.h"

#include "collector/gpu_uuid.h"

namespace utlz {

std::optional<uint32_t> DeviceTable::Find(std::string_view uuid) {
  if (!uuid.empty() && uuid.size() != kGpuUuidBytes) return std::nullopt;
  for (uint32_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i]->uuid == uuid) return i;
  }
  if (devices_.size() >= kMaxDevices) return std::nullopt;
  auto device = std::make_unique<DeviceState>();
  device->uuid = uuid;
  DeviceState* state = device.get();
  state->sweep.SetObserver([state](const ActivitySegment& segment) { state->OnSegment(segment); });
  devices_.push_back(std::move(device));
  return static_cast<uint32_t>(devices_.size() - 1);
}

}  // namespace utlz
