// Sampled stacks of launching threads, as the columns of ThreadStackBatch. Guarded by the agent's
// encode lock.
#ifndef UTLZ_INJECT_RECORD_THREAD_STACK_ENCODER_H_
#define UTLZ_INJECT_RECORD_THREAD_STACK_ENCODER_H_

#include <cstdint>

#include "inject/base/pb_writer.h"

namespace utlz::agent {

class ThreadStackEncoder {
 public:
  static constexpr uint32_t kMaxSamples = 4 << 10;

  // Once, before all others. False where there is no memory.
  bool Create();
  // `stack` is not 0.
  void Add(uint64_t time_ns, uint32_t stack);
  bool Full() const { return samples_ >= kMaxSamples; }
  bool Empty() const { return samples_ == 0; }
  // Writes the message, and begins anew.
  void Finish(ByteBuffer* message);
  // What was added is not sent.
  void Clear();

 private:
  uint32_t samples_ = 0;
  uint64_t base_ns_ = 0;
  uint64_t previous_ns_ = 0;
  ByteBuffer time_, stack_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_THREAD_STACK_ENCODER_H_
