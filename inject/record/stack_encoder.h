// The stacks of a batch's launches as columns of LaunchBatch (proto/profile.proto says how they are
// predicted): in a program that repeats itself, a fraction of a byte a launch. Used under a lock of
// the caller's.
#ifndef UTLZ_INJECT_RECORD_STACK_ENCODER_H_
#define UTLZ_INJECT_RECORD_STACK_ENCODER_H_

#include <cstdint>

#include "inject/base/pb_writer.h"
#include "proto/stack_context.h"

namespace utlz::agent {

class StackEncoder {
 public:
  static constexpr uint32_t kMaxLaunches = 16 << 10;  // of one batch

  // Once, before all others. False where there is no memory.
  bool Create();
  // For each launch of the batch, in its order. `stack`: its identifier, 0 = none.
  void Add(uint32_t variant, uint32_t stack);
  // Adds the columns to the batch's message, nothing where no launch had a stack, and begins anew.
  void Finish(ByteBuffer* message);

 private:
  void CloseRun();

  StackContext context_;
  uint32_t* predictions_ = nullptr;
  bool any_ = false;
  uint32_t run_predicted_ = 0;
  uint32_t run_literal_ = 0;
  ByteBuffer predicted_, literal_, delta_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_STACK_ENCODER_H_
