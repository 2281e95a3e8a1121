// The index at the end of a profile: where the frames are that a reader wants without reading all.
#ifndef UTLZ_COLLECTOR_PROFILE_FRAME_INDEX_H_
#define UTLZ_COLLECTOR_PROFILE_FRAME_INDEX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/profile.pb.h"

namespace utlz {

// True for the collector's own frames, all of which are in every index.
bool IsAlwaysIndexed(uint16_t type);

class FrameIndexBuilder {
 public:
  // Keeps every frame of the collector's, and of the others those that come once for a process or a
  // device (not batches), up to 65,536.
  void Add(uint64_t offset, uint16_t type, uint32_t source);
  std::string Serialize() const { return index_.SerializeAsString(); }

 private:
  Index index_;
};

// Offset of the last entry of `type`, or nothing. `payload` is untrusted, and so is the offset.
std::optional<uint64_t> FindLastInIndex(std::string_view payload, uint16_t type);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_PROFILE_FRAME_INDEX_H_
