#include "tests/fakes/visible_devices.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fakes/scenario.h"

namespace utlz::fake {
namespace {

std::string UuidText(uint32_t device) {
  std::string text = "GPU-";
  const auto uuid = DeviceUuid(device);
  for (size_t i = 0; i < uuid.size(); ++i) {
    char byte[3];
    std::snprintf(byte, sizeof(byte), "%02x", uuid[i]);
    text += byte;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

// A number, or the beginning of a UUID; the number of devices if it names none.
uint32_t Named(const std::string& name, uint32_t devices) {
  if (name.rfind("GPU-", 0) == 0) {
    uint32_t device = 0;
    while (device < devices && UuidText(device).rfind(name, 0) != 0) ++device;
    return device;
  }
  char* end = nullptr;
  const unsigned long number = std::strtoul(name.c_str(), &end, 10);
  return name.empty() || *end != '\0' || number >= devices ? devices
                                                           : static_cast<uint32_t>(number);
}

// What follows the first that names no device is not seen.
const std::vector<uint32_t>& Visible() {
  static const auto& visible = *new std::vector<uint32_t>([] {
    std::vector<uint32_t> seen;
    const auto devices = static_cast<uint32_t>(ScenarioNumber("devices", 1));
    const char* text = std::getenv("CUDA_VISIBLE_DEVICES");
    if (text == nullptr) {
      for (uint32_t device = 0; device < devices; ++device) seen.push_back(device);
      return seen;
    }
    std::istringstream names(text);
    for (std::string name; std::getline(names, name, ',');) {
      const uint32_t device = Named(name, devices);
      if (device == devices) break;
      seen.push_back(device);
    }
    return seen;
  }());
  return visible;
}

}  // namespace

uint32_t VisibleDeviceCount() { return static_cast<uint32_t>(Visible().size()); }
uint32_t PhysicalDevice(uint32_t ordinal) { return Visible().at(ordinal); }

// A simulated GPU of its own for every test: whose counters are shared is known by this. The rest
// is FNV-1a of its file's name.
std::array<unsigned char, 16> DeviceUuid(uint32_t device) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : ScenarioText("gpu").value_or("")) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  std::array<unsigned char, 16> uuid;
  for (size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<unsigned char>(0xf0 + i);
  std::memcpy(uuid.data(), &hash, sizeof(hash));
  uuid[15] = static_cast<unsigned char>(device);
  return uuid;
}

}  // namespace utlz::fake
