#include "collector/run/device_table.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace utlz {

std::optional<uint32_t> DeviceTable::Find(std::string_view uuid) {
  if (!uuid.empty() && uuid.size() != 16) return std::nullopt;
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

std::string FormatUuid(std::string_view uuid) {
  if (uuid.size() != 16) return {};
  std::string text = "GPU";
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid[i]));
    text += hex.data();
  }
  return text;
}

std::optional<std::string> ParseUuid(std::string_view text) {
  constexpr std::string_view kPrefix = "GPU-";
  if (text.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  std::string digits;
  for (const char c : text.substr(kPrefix.size())) {
    if (c != '-') digits += c;
  }
  std::string uuid;
  for (size_t i = 0; i + 1 < digits.size() && uuid.size() < 16; i += 2) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(&digits[i], &digits[i] + 2, byte, 16);
    if (error != std::errc() || end != &digits[i] + 2) return std::nullopt;
    uuid += static_cast<char>(byte);
  }
  if (FormatUuid(uuid) != text) return std::nullopt;
  return uuid;
}

}  // namespace utlz
