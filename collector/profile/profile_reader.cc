#include "collector/profile/profile_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/profile/frame_cursor.h"
#include "collector/profile/frame_index.h"
#include "collector/unique_fd.h"
#include "proto/frame.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

bool ReadAt(int fd, uint64_t offset, void* out, size_t bytes) {
  return pread(fd, out, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

absl::Status CheckHeader(int fd, const std::string& path, uint64_t size) {
  if (size == 0) return absl::DataLossError(absl::StrCat(path, " is empty"));
  ProfileHeader header = {};
  const size_t present = size < sizeof(header) ? static_cast<size_t>(size) : sizeof(header);
  if (!ReadAt(fd, 0, &header, present)) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  const size_t magic_bytes = std::min(present, sizeof(kProfileMagic));
  if (std::memcmp(header.magic, kProfileMagic, magic_bytes) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a utlz profile"));
  }
  if (present < sizeof(header)) {
    return absl::DataLossError(absl::StrCat(path, " is cut off inside its first 16 bytes"));
  }
  if (header.version == 0 || header.version > kProfileVersion) {
    return absl::UnimplementedError(absl::StrCat(
        path, " was written in profile format ", header.version, ", and this utlz reads up to ",
        kProfileVersion, ": read it with the utlz that wrote it, or a newer one"));
  }
  return absl::OkStatus();
}

}  // namespace

class ProfileReader::File {
 public:
  File(UniqueFd fd, uint64_t size)
      : fd_(std::move(fd)), end_(size), cursor_(fd_.get(), sizeof(ProfileHeader), size) {
    ReadTrailer(size);
    Rewind();
  }

  bool Next(FrameView* frame) {
    while (cursor_.Next(frame)) {
      if (frame->type != FRAME_PADDING && frame->type != FRAME_INDEX) return true;
    }
    return false;
  }

  void Rewind() { cursor_ = FrameCursor(fd_.get(), sizeof(ProfileHeader), end_); }

  std::optional<FrameView> FindLast(uint16_t type) {
    if (finished_ && IsAlwaysIndexed(type)) return FindIndexed(type);
    FrameCursor scan(fd_.get(), sizeof(ProfileHeader), end_);
    std::optional<FrameView> found;
    for (FrameView frame; scan.NextOfType(type, &frame);) {
      found_payload_ = frame.payload;
      found = frame;
    }
    if (found) found->payload = found_payload_;
    return found;
  }

  bool finished() const { return finished_; }
  const FrameCursor& cursor() const { return cursor_; }

 private:
  // The trailer is accepted only where it names a whole index frame that ends where it begins.
  void ReadTrailer(uint64_t size) {
    ProfileTrailer trailer = {};
    if (size < sizeof(ProfileHeader) + sizeof(trailer)) return;
    const uint64_t trailer_offset = size - sizeof(trailer);
    if (!ReadAt(fd_.get(), trailer_offset, &trailer, sizeof(trailer))) return;
    if (std::memcmp(trailer.magic, kProfileTrailerMagic, sizeof(trailer.magic)) != 0) return;
    FrameCursor cursor(fd_.get(), sizeof(ProfileHeader), trailer_offset);
    FrameView frame;
    if (trailer.index_offset < sizeof(ProfileHeader) || !cursor.At(trailer.index_offset, &frame) ||
        frame.type != FRAME_INDEX || cursor.position() != trailer_offset) {
      return;
    }
    index_ = frame.payload;
    finished_ = true;
    end_ = trailer_offset;
  }

  std::optional<FrameView> FindIndexed(uint16_t type) {
    const std::optional<uint64_t> offset = FindLastInIndex(index_, type);
    FrameCursor cursor(fd_.get(), sizeof(ProfileHeader), end_);
    FrameView frame;
    if (!offset || *offset < sizeof(ProfileHeader) || !cursor.At(*offset, &frame) ||
        frame.type != type) {
      return std::nullopt;
    }
    found_payload_ = frame.payload;
    frame.payload = found_payload_;
    return frame;
  }

  UniqueFd fd_;
  uint64_t end_;
  bool finished_ = false;
  std::string index_;
  FrameCursor cursor_;
  std::string found_payload_;
};

ProfileReader::ProfileReader(std::unique_ptr<File> file) : file_(std::move(file)) {}
ProfileReader::ProfileReader(ProfileReader&&) noexcept = default;
ProfileReader& ProfileReader::operator=(ProfileReader&&) noexcept = default;
ProfileReader::~ProfileReader() = default;

absl::StatusOr<ProfileReader> ProfileReader::Open(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status = {};
  if (!fd.valid() || fstat(fd.get(), &status) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  }
  const uint64_t size = static_cast<uint64_t>(status.st_size);
  if (absl::Status header = CheckHeader(fd.get(), path, size); !header.ok()) return header;
  return ProfileReader(std::make_unique<File>(std::move(fd), size));
}

bool ProfileReader::Next(FrameView* frame) { return file_->Next(frame); }
void ProfileReader::Rewind() { file_->Rewind(); }
std::optional<FrameView> ProfileReader::FindLast(uint16_t type) { return file_->FindLast(type); }
bool ProfileReader::finished() const { return file_->finished(); }
uint64_t ProfileReader::refused_frames() const { return file_->cursor().refused_frames(); }
uint64_t ProfileReader::unreadable_bytes() const { return file_->cursor().unreadable_bytes(); }

}  // namespace utlz
