// Where processes and GPUs are, as the kernel tells under /proc: pods, containers and jobs for
// labels, and nvidia-smi's numbers.
//
// Trust: a process's environment is what the process was given, and may say anything. At most
// kMaxProcBytes of a file are read. Reading one may wait for the process's memory map. Thread
// safety: functions only.
#ifndef UTLZ_TOOLS_EXPORTER_FIND_PLACES_H_
#define UTLZ_TOOLS_EXPORTER_FIND_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "collector/metrics/places.h"

namespace utlz {

inline constexpr size_t kMaxProcBytes = 256 << 10;

// From what /proc/PID/environ and /proc/PID/cgroup hold.
ProcessPlace PlaceIn(std::string_view environment, std::string_view cgroup);

// `proc` is "/proc", or what stands for it in a test.
ProcessPlace FindProcess(const std::string& proc, uint64_t pid);
DevicePlace FindDevice(const std::string& proc, const std::string& pci_bus);

// Of this machine.
PlaceFinders MachinePlaces();

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_FIND_PLACES_H_
