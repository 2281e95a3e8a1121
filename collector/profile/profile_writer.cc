#include "collector/profile/profile_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/files/output_file.h"
#include "collector/profile/frame_index.h"
#include "collector/profile/payload_codec.h"
#include "proto/frame.h"

namespace utlz {
namespace {

constexpr size_t kBufferBytes = 256 << 10;

template <typename Record>
void AppendRecord(const Record& record, std::string* out) {
  char bytes[sizeof(record)];
  std::memcpy(bytes, &record, sizeof(record));
  out->append(bytes, sizeof(record));
}

// An existing file may be replaced if it is empty or begins as a profile does.
bool MayBeReplaced(int fd) {
  char magic[sizeof(kProfileMagic)];
  const ssize_t bytes = pread(fd, magic, sizeof(magic), 0);
  return bytes == 0 || (bytes == static_cast<ssize_t>(sizeof(magic)) &&
                        std::memcmp(magic, kProfileMagic, sizeof(magic)) == 0);
}

}  // namespace

class ProfileWriter::File {
 public:
  File(std::string path, OutputFile file) : path_(std::move(path)), file_(std::move(file)) {
    ProfileHeader header = {};
    std::memcpy(header.magic, kProfileMagic, sizeof(header.magic));
    header.version = kProfileVersion;
    AppendRecord(header, &buffer_);
    boundaries_.push_back(buffer_.size());
  }

  absl::Status Append(uint32_t source, uint16_t type, std::string_view payload) {
    if (!failure_.ok()) return failure_;
    if (payload.size() > kMaxFramePayloadBytes) {
      return absl::InvalidArgumentError(absl::StrCat("a message of ", payload.size(),
                                                     " bytes is too large for a profile's frame"));
    }
    index_.Add(bytes_written(), type, source);
    AppendFrame(source, type, payload);
    return buffer_.size() >= kBufferBytes ? Flush() : absl::OkStatus();
  }

  absl::Status Flush() {
    if (!failure_.ok()) return failure_;
    size_t done = 0;
    while (done < buffer_.size()) {
      const ssize_t count = write(file_.fd(), buffer_.data() + done, buffer_.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return Fail(count < 0 ? errno : ENOSPC, done);
      done += static_cast<size_t>(count);
    }
    flushed_bytes_ += buffer_.size();
    buffer_.clear();
    boundaries_.clear();
    return absl::OkStatus();
  }

  absl::Status Finish() {
    if (!failure_.ok()) return failure_;
    ProfileTrailer trailer = {};
    std::memcpy(trailer.magic, kProfileTrailerMagic, sizeof(trailer.magic));
    trailer.index_offset = bytes_written();
    AppendFrame(0, FRAME_INDEX, index_.Serialize());
    AppendRecord(trailer, &buffer_);
    if (absl::Status status = Flush(); !status.ok()) return status;
    if (absl::Status status = Publish(); !status.ok()) return status;
    failure_ = absl::FailedPreconditionError(absl::StrCat(path_, " is already finished"));
    return file_.CheckPlace();
  }

  absl::Status Publish() { return file_.Publish(); }

  uint64_t bytes_written() const { return flushed_bytes_ + buffer_.size(); }
  const std::string& path() const { return path_; }

 private:
  void AppendFrame(uint32_t source, uint16_t type, std::string_view payload) {
    FrameHeader header = {};
    if (compressor_.Compress(payload, &compressed_)) {
      payload = compressed_;
      header.flags = kFrameCompressed;
    }
    header.payload_bytes = static_cast<uint32_t>(payload.size());
    header.type = type;
    header.source = source;
    header.checksum = FrameChecksum(header, payload.data());
    AppendRecord(header, &buffer_);
    buffer_.append(payload);
    buffer_.append(FrameBytes(header.payload_bytes) - sizeof(header) - payload.size(), '\0');
    boundaries_.push_back(buffer_.size());
  }

  // Cuts the file back to its last whole frame and remembers why nothing more can be written.
  absl::Status Fail(int error, size_t buffer_bytes_written) {
    const auto beyond =
        std::upper_bound(boundaries_.begin(), boundaries_.end(), buffer_bytes_written);
    const uint64_t whole = flushed_bytes_ + (beyond == boundaries_.begin() ? 0 : *(beyond - 1));
    const bool cut = ftruncate(file_.fd(), static_cast<off_t>(whole)) == 0;
    failure_ = absl::ErrnoToStatus(
        error, absl::StrCat("cannot write to the profile ", path_, ", which ends after ", whole,
                            cut ? " bytes" : " readable bytes"));
    buffer_.clear();
    boundaries_.clear();
    flushed_bytes_ = whole;
    return failure_;
  }

  std::string path_;
  OutputFile file_;
  std::string buffer_;
  std::vector<size_t> boundaries_;  // ends of frames in buffer_
  uint64_t flushed_bytes_ = 0;
  absl::Status failure_;
  FrameIndexBuilder index_;
  PayloadCompressor compressor_;
  std::string compressed_;
};

ProfileWriter::ProfileWriter(std::unique_ptr<File> file) : file_(std::move(file)) {}
ProfileWriter::ProfileWriter(ProfileWriter&&) noexcept = default;
ProfileWriter& ProfileWriter::operator=(ProfileWriter&&) noexcept = default;

ProfileWriter::~ProfileWriter() {
  if (file_ != nullptr) file_->Flush().IgnoreError();
}

absl::StatusOr<ProfileWriter> ProfileWriter::Open(const std::string& path,
                                                  const ProfileFile& options) {
  absl::StatusOr<OutputFile> output = OutputFile::Create(path, {.may_replace = MayBeReplaced,
                                                                .what = "profile",
                                                                .kind = "a utlz profile",
                                                                .must_be_new = options.must_be_new,
                                                                .is_private = options.is_private,
                                                                .appears_at_once = true});
  if (!output.ok()) return output.status();
  auto file = std::make_unique<File>(path, *std::move(output));
  if (absl::Status status = file->Flush(); !status.ok()) return status;
  return ProfileWriter(std::move(file));
}

absl::Status ProfileWriter::Append(uint32_t source, uint16_t type, std::string_view payload) {
  return file_->Append(source, type, payload);
}
absl::Status ProfileWriter::Publish() { return file_->Publish(); }
absl::Status ProfileWriter::Flush() { return file_->Flush(); }
absl::Status ProfileWriter::Finish() { return file_->Finish(); }
uint64_t ProfileWriter::bytes_written() const { return file_->bytes_written(); }
const std::string& ProfileWriter::path() const { return file_->path(); }

}  // namespace utlz
