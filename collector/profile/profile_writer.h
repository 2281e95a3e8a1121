// Writes a profile (.utlz): the frames of a run in the order in which they came, then an index.
//
// Layout in proto/frame.h and docs/design/wire.md. Payloads above 4 KiB are compressed where that
// saves a tenth. Bytes are buffered; Flush() hands them to the kernel, after which they survive the
// death of this process (not of the machine).
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_PROFILE_PROFILE_WRITER_H_
#define UTLZ_COLLECTOR_PROFILE_PROFILE_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace utlz {

struct ProfileFile {
  bool must_be_new = false;  // nothing of that name may be there, not even a profile
  bool is_private = false;   // for its owner alone
};

class ProfileWriter {
 public:
  // Creates the file; an older profile there stays until Publish(). Refused, with the file
  // untouched: no permission (PermissionDenied), a missing folder (NotFound), a file that is not a
  // profile (AlreadyExists), a profile that another run is writing (Unavailable), a link that root
  // does not follow (FailedPrecondition).
  static absl::StatusOr<ProfileWriter> Open(const std::string& path, const ProfileFile& file = {});

  ProfileWriter(ProfileWriter&&) noexcept;
  ProfileWriter& operator=(ProfileWriter&&) noexcept;
  // Without Finish() a published file has no index but is whole up to the last flush. One that was
  // not published is removed.
  ~ProfileWriter();

  // There is something to keep: the file replaces what was there, and stays. Where nothing was
  // there, it has had its name from the start.
  absl::Status Publish();

  // `payload` is one message of `type` (FrameType), at most kMaxFramePayloadBytes. After a failure
  // (disk full, say) the file is cut back to its last whole frame and every later call fails.
  absl::Status Append(uint32_t source, uint16_t type, std::string_view payload);

  absl::Status Flush();

  // Writes the index and the trailer, and publishes the file. Nothing may be appended afterwards.
  absl::Status Finish();

  uint64_t bytes_written() const;  // buffered bytes included
  const std::string& path() const;

 private:
  class File;
  explicit ProfileWriter(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_PROFILE_PROFILE_WRITER_H_
