// Reads a profile (.utlz), trusting nothing in it: bounds and checksums are checked before a frame
// is shown, sizes before memory is taken. Frames that do not check are skipped and counted; reading
// goes on at the next frame that does. Works on unfinished profiles and on one being written.
//
// Payloads are still untrusted messages. Not thread safe.
#ifndef UTLZ_COLLECTOR_PROFILE_PROFILE_READER_H_
#define UTLZ_COLLECTOR_PROFILE_PROFILE_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "collector/profile/frame_view.h"

namespace utlz {

class ProfileReader {
 public:
  // One sentence for what cannot be read at all: no such file, empty, not a profile, newer.
  static absl::StatusOr<ProfileReader> Open(const std::string& path);

  ProfileReader(ProfileReader&&) noexcept;
  ProfileReader& operator=(ProfileReader&&) noexcept;
  ~ProfileReader();

  // The next frame of the run (the index is not one), false at the end of what can be read.
  bool Next(FrameView* frame);

  // Begins again at the first frame, with the counts below at zero.
  void Rewind();

  // The last frame of `type`, through the index where there is one. Next() is not disturbed.
  std::optional<FrameView> FindLast(uint16_t type);

  // Whether the profile was closed orderly, by its trailer and index.
  bool finished() const;

  // So far: frames that did not check, and bytes that belong to no frame that did.
  uint64_t refused_frames() const;
  uint64_t unreadable_bytes() const;

 private:
  class File;
  explicit ProfileReader(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_PROFILE_PROFILE_READER_H_
