#include "inject/record/thread_stack_encoder.h"

#include "inject/base/columns.h"
#include "proto/profile_fields.h"

namespace utlz::agent {

bool ThreadStackEncoder::Create() { return MapColumns({&time_, &stack_}, kMaxSamples); }

void ThreadStackEncoder::Add(uint64_t time_ns, uint32_t stack) {
  if (samples_ == 0) base_ns_ = previous_ns_ = time_ns;
  time_.Varint(ZigZag(static_cast<int64_t>(time_ns - previous_ns_)));
  stack_.Varint(stack);
  previous_ns_ = time_ns;
  ++samples_;
}

void ThreadStackEncoder::Finish(ByteBuffer* message) {
  namespace field = wire::ThreadStackBatch;
  PbWriter out(message);
  out.Fixed64(field::kBaseNs, base_ns_);
  out.Buffer(field::kTimeDeltaNs, time_);
  out.Buffer(field::kStack, stack_);
  Clear();
}

void ThreadStackEncoder::Clear() {
  time_.Clear();
  stack_.Clear();
  samples_ = 0;
}

}  // namespace utlz::agent
