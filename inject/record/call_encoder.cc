#include "inject/record/call_encoder.h"

#include <initializer_list>

#include "inject/base/columns.h"
#include "proto/profile_fields.h"

namespace utlz::agent {

bool CallEncoder::Create() {
  return MapColumns({&start_, &duration_, &correlation_, &thread_}, kMaxCalls + 1);
}

void CallEncoder::Add(const cupti::ApiRecord& record) {
  if (calls_ == 0) base_ns_ = previous_start_ns_ = record.start;
  start_.Varint(ZigZag(static_cast<int64_t>(record.start - previous_start_ns_)));
  const uint64_t duration_ns = record.end - record.start;
  duration_.Varint(duration_ns > UINT32_MAX ? UINT32_MAX : duration_ns);
  correlation_.Varint(ZigZag(int64_t{record.correlation_id} - int64_t{previous_correlation_}));
  thread_.Varint(record.thread_id);
  previous_start_ns_ = record.start;
  previous_correlation_ = record.correlation_id;
  ++calls_;
}

void CallEncoder::Finish(ByteBuffer* message) {
  namespace field = wire::LaunchCallBatch;
  PbWriter out(message);
  out.Fixed64(field::kBaseNs, base_ns_);
  out.Buffer(field::kStartDeltaNs, start_);
  out.Buffer(field::kDurationNs, duration_);
  out.Buffer(field::kCorrelationDelta, correlation_);
  out.Buffer(field::kThread, thread_);
  for (ByteBuffer* column : {&start_, &duration_, &correlation_, &thread_}) column->Clear();
  calls_ = 0;
  previous_correlation_ = 0;
}

}  // namespace utlz::agent
