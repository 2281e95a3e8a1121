// Where processes and devices are in the world outside of the run: what their labels say beside
// what the run knows itself. Empty is unknown.
#ifndef UTLZ_COLLECTOR_METRICS_PLACES_H_
#define UTLZ_COLLECTOR_METRICS_PLACES_H_

#include <cstdint>
#include <functional>
#include <string>

namespace utlz {

struct ProcessPlace {
  std::string pod = {};
  std::string pod_uid = {};
  std::string pod_namespace = {};
  std::string container = {};
  std::string job = {};  // of a batch system
};

struct DevicePlace {
  std::string index = {};  // as nvidia-smi counts
  std::string file = {};   // "nvidia0"
};

// Each is asked once a process or device, on the collector's thread: they must not block. Unset:
// nothing is known.
struct PlaceFinders {
  std::function<ProcessPlace(uint64_t pid)> process = {};
  std::function<DevicePlace(const std::string& pci_bus)> device = {};
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_PLACES_H_
