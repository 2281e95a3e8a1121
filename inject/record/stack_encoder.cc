#include "inject/record/stack_encoder.h"

#include <cstring>
#include <initializer_list>

#include "inject/base/columns.h"
#include "inject/base/memory.h"
#include "proto/profile_fields.h"

namespace utlz::agent {

bool StackEncoder::Create() {
  predictions_ = MapArray<uint32_t>(StackContext::kEntries);
  return predictions_ != nullptr && MapColumns({&predicted_, &literal_, &delta_}, kMaxLaunches + 1);
}

void StackEncoder::Add(uint32_t variant, uint32_t stack) {
  any_ = any_ || stack != 0;
  uint32_t& predicted = predictions_[context_.EntryOf(variant)];
  if (predicted == stack) {
    if (run_literal_ != 0) CloseRun();
    ++run_predicted_;
  } else {
    ++run_literal_;
    delta_.Varint(ZigZag(static_cast<int32_t>(stack - context_.last)));
  }
  predicted = stack;
  context_.Advance(stack);
}

void StackEncoder::CloseRun() {
  predicted_.Varint(run_predicted_);
  literal_.Varint(run_literal_);
  run_predicted_ = run_literal_ = 0;
}

void StackEncoder::Finish(ByteBuffer* message) {
  if (any_) {
    if (run_predicted_ + run_literal_ != 0) CloseRun();
    namespace field = wire::LaunchBatch;
    PbWriter out(message);
    out.Buffer(field::kStackPredicted, predicted_);
    out.Buffer(field::kStackLiteral, literal_);
    out.Buffer(field::kStackDelta, delta_);
    // Without a stack in it a batch leaves the table as it was: all zero.
    std::memset(predictions_, 0, StackContext::kEntries * sizeof(uint32_t));
  }
  for (ByteBuffer* column : {&predicted_, &literal_, &delta_}) column->Clear();
  context_ = {};
  run_predicted_ = run_literal_ = 0;
  any_ = false;
}

}  // namespace utlz::agent
