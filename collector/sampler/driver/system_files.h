// What files of the system tell of the driver and of running programs: no GPU and no driver library
// is needed. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_SAMPLER_DRIVER_SYSTEM_FILES_H_
#define UTLZ_COLLECTOR_SAMPLER_DRIVER_SYSTEM_FILES_H_

#include <optional>
#include <string>
#include <vector>

namespace utlz {

// In all of them `root` is put before every path ("" on a real machine).

// Its first 64 KiB; absent where it cannot be read.
std::optional<std::string> ReadSystemText(const std::string& path);

// This process has the capability of this number, as its effective set says.
bool HasCapability(const std::string& root, int number);

// The driver lets every user read counters, not administrators alone. False where it does not tell.
bool CountersAreOpenToAll(const std::string& root);

// "pid 123 (nv-hostengine)" of running programs with one of these names.
std::vector<std::string> RunningPrograms(const std::string& root,
                                         const std::vector<std::string>& names);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DRIVER_SYSTEM_FILES_H_
