#include "inject/record/copy_encoder.h"

#include <iterator>

#include <initializer_list>

#include "inject/base/memory.h"

namespace utlz::inject {

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
    ++timeless_;
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
  PbWriter out(message);
  out.Fixed64(1, base_ns_);
  out.Buffer(2, kind_);
  out.Buffer(3, start_);
  out.Buffer(4, duration_);
  out.Buffer(5, bytes_);
  out.Buffer(6, stream_);
  out.Buffer(7, context_);
  out.Buffer(8, flags_);
  out.Buffer(9, graph_node_);
  out.Uint(10, timeless_);
  for (ByteBuffer* column : {&kind_, &start_, &duration_, &bytes_, &stream_, &context_, &flags_,
                             &graph_node_}) {
    column->Clear();
  }
  copies_ = timeless_ = 0;
}

}  // namespace utlz::inject
