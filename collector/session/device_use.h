// Which GPUs a process uses, from what its agent says of devices and contexts: windows are planned
// for the processes of a GPU together.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_DEVICE_USE_H_
#define UTLZ_COLLECTOR_SESSION_DEVICE_USE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace utlz {

class DeviceUse {
 public:
  // A frame of the agent. What is not of interest, or not valid, is passed over.
  void Consume(uint16_t type, std::string_view payload);

  // UUIDs of the GPUs that it has contexts on; all that it sees, while it has none.
  std::vector<std::string> Uuids() const;
  bool Uses(const std::string& uuid) const;
  bool has_contexts() const;

 private:
  static constexpr size_t kMostDevices = 64;

  struct Device {
    std::string uuid;
    bool used = false;
  };
  std::map<uint32_t, Device> devices_;  // by the process's ordinal
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_DEVICE_USE_H_
