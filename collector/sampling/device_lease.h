// Only one utlz at a time takes a GPU's counters: a lock on a file per GPU, so that a second one
// knows that it can share them instead of finding the hardware busy. Who has the lock listens for
// such others.
#ifndef UTLZ_COLLECTOR_SAMPLING_DEVICE_LEASE_H_
#define UTLZ_COLLECTOR_SAMPLING_DEVICE_LEASE_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"

namespace utlz {

class DeviceLease {
 public:
  // `folder`: where the lock files are; every user of the machine must name the same one.
  // Unavailable, naming the process: another utlz has the GPU.
  static absl::StatusOr<DeviceLease> Take(const std::string& folder, const std::string& uuid);

  // The machine-wide folder.
  static std::string DefaultFolder();

  // Readable when another sampler asks for a share (AcceptSubscriber); -1 where none can.
  int listener() const { return listener_.get(); }

 private:
  DeviceLease(UniqueFd file, UniqueFd listener)
      : file_(std::move(file)), listener_(std::move(listener)) {}

  UniqueFd file_;  // holds the lock; closing it gives the lease back
  UniqueFd listener_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLING_DEVICE_LEASE_H_
