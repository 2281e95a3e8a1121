// A profile of any bytes behind a valid first header, as a reader finds it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "collector/profile/profile_reader.h"
#include "collector/unique_fd.h"
#include "proto/frame.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

// Input whose first byte is odd has the checksum of its first frame put right, or no input would
// ever get past it.
std::string MakeProfile(const uint8_t* bytes, size_t size) {
  ProfileHeader header = {};
  std::memcpy(header.magic, kProfileMagic, sizeof(header.magic));
  header.version = kProfileVersion;
  std::string profile(reinterpret_cast<const char*>(&header), sizeof(header));
  const bool repaired = size > 0 && (bytes[0] & 1) != 0;
  if (size > 0) profile.append(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  FrameHeader frame;
  if (!repaired || profile.size() < sizeof(header) + sizeof(frame)) return profile;
  char* place = profile.data() + sizeof(header);
  std::memcpy(&frame, place, sizeof(frame));
  if (frame.payload_bytes > profile.size() - sizeof(header) - sizeof(frame)) return profile;
  frame.checksum = FrameChecksum(frame, place + sizeof(frame));
  std::memcpy(place, &frame, sizeof(frame));
  return profile;
}

void Read(const std::string& path) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path);
  if (!reader.ok()) return;
  for (FrameView frame; reader->Next(&frame);) {
    if (frame.payload.size() > kMaxFramePayloadBytes) std::abort();
  }
  reader->FindLast(FRAME_SUMMARY);
  reader->FindLast(FRAME_PROCESS);
}

}  // namespace
}  // namespace utlz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string profile = utlz::MakeProfile(bytes, size);
  const utlz::UniqueFd fd(memfd_create("profile", MFD_CLOEXEC));
  if (write(fd.get(), profile.data(), profile.size()) != static_cast<ssize_t>(profile.size())) {
    std::abort();
  }
  utlz::Read("/proc/self/fd/" + std::to_string(fd.get()));
  return 0;
}
