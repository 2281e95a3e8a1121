// Only one utlz of a user takes a GPU's counters at a time: a lock on a file per GPU, so that a
// second one knows that it can share them instead of finding the hardware busy. Who has the lock
// listens for such others. Lock files lie where no other user can open them: a lock on a file that
// others can open is a lock that others can take. So the locks of two users are two; a user's utlz
// meets root's by its socket, and of any other the hardware says that the counters are taken.
#ifndef UTLZ_COLLECTOR_SAMPLER_SHARING_DEVICE_LEASE_H_
#define UTLZ_COLLECTOR_SAMPLER_SHARING_DEVICE_LEASE_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"

namespace utlz {

class DeviceLease {
 public:
  // `folder`: where this user's lock files are. Unavailable, naming the process: another utlz of
  // this user or of root has the GPU. PermissionDenied: others may write to the folder, or the file
  // is not only ours.
  static absl::StatusOr<DeviceLease> Take(const std::string& folder, const std::string& uuid);

  // RuntimeFolder(); empty where there is none.
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

#endif  // UTLZ_COLLECTOR_SAMPLER_SHARING_DEVICE_LEASE_H_
