#include "inject/record/copy_encoder.h"

#include <initializer_list>

#include "inject/base/columns.h"
#include "proto/profile_fields.h"

namespace utlz::agent {

bool CopyEncoder::Create() {
  return MapColumns(
      {&kind_, &start_, &duration_, &bytes_, &stream_, &context_, &flags_, &graph_node_},
      kMaxCopies + 1);
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
