#include "collector/profile/frame_index.h"

#include "collector/decode/parse.h"

namespace utlz {
namespace {

constexpr int kMaxOptionalEntries = 65536;

bool IsOncePerOwner(uint16_t type) {
  switch (type) {
    case FRAME_PROCESS:
    case FRAME_DEVICE:
    case FRAME_PROCESS_END:
    case FRAME_METRIC_SET:
    case FRAME_DEVICE_PEAKS:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool IsAlwaysIndexed(uint16_t type) {
  return type >= FRAME_RUN_START && type <= FRAME_DEVICE_CEILINGS && type != FRAME_INDEX;
}

void FrameIndexBuilder::Add(uint64_t offset, uint16_t type, uint32_t source) {
  const bool wanted = IsAlwaysIndexed(type) ||
                      (IsOncePerOwner(type) && index_.entries_size() < kMaxOptionalEntries);
  if (!wanted) return;
  Index::Entry* entry = index_.add_entries();
  entry->set_offset(offset);
  entry->set_type(type);
  entry->set_source(source);
}

std::optional<uint64_t> FindLastInIndex(std::string_view payload, uint16_t type) {
  Index index;
  if (!ParseWithinMemory(payload, &index)) return std::nullopt;
  for (int i = index.entries_size() - 1; i >= 0; --i) {
    if (index.entries(i).type() == type) return index.entries(i).offset();
  }
  return std::nullopt;
}

}  // namespace utlz
