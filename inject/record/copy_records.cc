#include "inject/record/copy_records.h"

#include "proto/profile_fields.h"

namespace utlz::agent {
namespace {

uint32_t CopyKindOf(uint8_t kind) {
  switch (kind) {
    case cupti::kCopyHostToDevice:
      return wire::kCopyHostToDevice;
    case cupti::kCopyDeviceToHost:
      return wire::kCopyDeviceToHost;
    case cupti::kCopyDeviceToDevice:
      return wire::kCopyDeviceToDevice;
    case cupti::kCopyPeerToPeer:
      return wire::kCopyPeerToPeer;
    case cupti::kCopyHostToHost:
      return wire::kCopyHostToHost;
    default:
      return kind == 0 ? wire::kCopyUnknown : wire::kCopyArray;
  }
}

uint32_t CopyFlagsOf(uint8_t flags, uint8_t source, uint8_t destination) {
  const bool pageable = source == cupti::kMemoryPageable || destination == cupti::kMemoryPageable;
  return ((flags & cupti::kCopyFlagAsync) != 0 ? wire::kCopyAsync : wire::kCopyPlain) |
         (pageable ? wire::kCopyHostPageable : wire::kCopyPlain);
}

}  // namespace

Copy CopyOf(const cupti::MemcpyRecord& record) {
  return {CopyKindOf(record.copy_kind),
          record.start,
          record.end,
          record.bytes,
          record.stream_id,
          record.context_id,
          CopyFlagsOf(record.flags, record.source_kind, record.destination_kind),
          record.graph_node_id};
}

Copy CopyOf(const cupti::PeerCopyRecord& record) {
  return {CopyKindOf(cupti::kCopyPeerToPeer),
          record.start,
          record.end,
          record.bytes,
          record.stream_id,
          record.context_id,
          CopyFlagsOf(record.flags, 0, 0),
          record.graph_node_id};
}

Copy CopyOf(const cupti::MemsetRecord& record) {
  return {wire::kCopyMemset, record.start,      record.end, record.bytes,
          record.stream_id,  record.context_id, 0,          record.graph_node_id};
}

}  // namespace utlz::agent
