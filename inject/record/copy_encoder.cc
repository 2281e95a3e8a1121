#include "inject/record/copy_encoder.h"

#include <initializer_list>
#include <iterator>

#include "inject/base/memory.h"
#include "proto/profile_fields.h"

namespace utlz::agent {

bool CopyEncoder::Create() {
  constexpr uint32_t kColumnBytes = (kMaxCopies + 1) * 10;
  ByteBuffer* const columns[] = {&kind_,   &start_,   &duration_, &bytes_,
                                 &stream_, &context_, &flags_,    &graph_node_};
  auto* memory = MapArray<uint8_t>(std::size(columns) * uint64_t{kColumnBytes});
  if (memory == nullptr) return false;
  for (ByteBuffer* column : columns) {
    *column = ByteBuffer(memory, kColumnBytes);
    memory += kColumnBytes;
  }
  return true;
}

void CopyEncoder::Add(const Copy& copy) {
  if (copy.start_ns == 0) {
    ++untimed_;
    return;
  }
  if (copies_ == 0) base_ns_ = previous_start_ns_ = copy.start_ns;
  kind_.Varint(copy.kind);
  start_.Varint(ZigZag(static_cast<int64_t>(copy.start_ns - previous_start_ns_)));
  duration_.Varint(copy.end_ns - copy.start_ns);
  bytes_.Varint(copy.bytes);
  stream_.Varint(copy.stream);
  context_.Varint(copy.context);
  flags_.Varint(copy.flags);
  graph_node_.Varint(copy.graph_node);
  previous_start_ns_ = copy.start_ns;
  ++copies_;
}

void CopyEncoder::Finish(ByteBuffer* message) {
  namespace field = wire::CopyBatch;
  PbWriter out(message);
  out.Fixed64(field::kBaseNs, base_ns_);
  out.Buffer(field::kKind, kind_);
  out.Buffer(field::kStartDeltaNs, start_);
  out.Buffer(field::kDurationNs, duration_);
  out.Buffer(field::kBytes, bytes_);
  out.Buffer(field::kStream, stream_);
  out.Buffer(field::kContext, context_);
  out.Buffer(field::kFlags, flags_);
  out.Buffer(field::kGraphNode, graph_node_);
  out.Uint(field::kUntimed, untimed_);
  for (ByteBuffer* column :
       {&kind_, &start_, &duration_, &bytes_, &stream_, &context_, &flags_, &graph_node_}) {
    column->Clear();
  }
  copies_ = untimed_ = 0;
}

}  // namespace utlz::agent
