// The frame: what travels in the ring, between sampler and collector, and in a profile.
//
//   FrameHeader (16 bytes) | payload (payload_bytes) | zeros up to a multiple of 8
//
// The payload is one protobuf message whose type the header's `type` names (profile.proto,
// FrameType). Every frame can be refused alone: nothing in one is needed to find the next, and
// an unknown type is skipped.
#ifndef UTLZ_PROTO_FRAME_H_
#define UTLZ_PROTO_FRAME_H_

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace utlz {

inline constexpr uint32_t kMaxFramePayloadBytes = 16u << 20;
inline constexpr uint16_t kFrameCompressed = 1u << 0;  // payload is zstd (profiles only)

struct FrameHeader {
  uint32_t payload_bytes;
  uint16_t type;   // FrameType
  uint16_t flags;  // kFrame*
  uint32_t source;  // in a profile: index of the process that it came from; 0 = the collector
  uint32_t checksum;  // FrameChecksum
};
static_assert(sizeof(FrameHeader) == 16);

// Low half of XXH3-64 over the payload, seeded with the header's other fields, so that neither can
// be exchanged for another's.
inline uint32_t FrameChecksum(const FrameHeader& header, const void* payload) {
  const uint64_t fields =
      header.payload_bytes | uint64_t{header.type} << 32 | uint64_t{header.flags} << 48;
  const uint64_t seed = fields ^ (uint64_t{header.source} * 0x9e3779b97f4a7c15u);
  return static_cast<uint32_t>(XXH3_64bits_withSeed(payload, header.payload_bytes, seed));
}

// Bytes that a frame takes, padding included.
inline constexpr uint64_t FrameBytes(uint32_t payload_bytes) {
  return (sizeof(FrameHeader) + uint64_t{payload_bytes} + 7) & ~uint64_t{7};
}

// A profile begins with these bytes, then holds frames up to its end. The last frame of a finished
// one is FRAME_INDEX, and its last 16 bytes are kProfileTrailer and the index frame's offset.
struct ProfileHeader {
  char magic[8];       // kProfileMagic
  uint32_t version;    // kProfileVersion; readers refuse newer, naming both
  uint32_t reserved;
};
static_assert(sizeof(ProfileHeader) == 16);
inline constexpr char kProfileMagic[8] = {'U', 'T', 'L', 'Z', 'P', 'R', 'F', '\n'};
inline constexpr uint32_t kProfileVersion = 1;
struct ProfileTrailer {
  char magic[8];  // kProfileTrailerMagic
  uint64_t index_offset;
};
inline constexpr char kProfileTrailerMagic[8] = {'U', 'T', 'L', 'Z', 'E', 'N', 'D', '\n'};

}  // namespace utlz

#endif  // UTLZ_PROTO_FRAME_H_
