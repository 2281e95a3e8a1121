// Calls that launched something, as the columns of LaunchCallBatch. Guarded by the agent's encode
// lock.
#ifndef UTLZ_INJECT_RECORD_CALL_ENCODER_H_
#define UTLZ_INJECT_RECORD_CALL_ENCODER_H_

#include <cstdint>

#include "inject/base/pb_writer.h"
#include "inject/driver/cupti_abi.h"

namespace utlz::agent {

class CallEncoder {
 public:
  static constexpr uint32_t kMaxCalls = 8 << 10;

  bool Create();
  void Add(const cupti::ApiRecord& record);
  bool Full() const { return calls_ >= kMaxCalls; }
  bool Empty() const { return calls_ == 0; }
  void Finish(ByteBuffer* message);

 private:
  uint32_t calls_ = 0;
  uint64_t base_ns_ = 0;
  uint64_t previous_start_ns_ = 0;
  uint32_t previous_correlation_ = 0;
  ByteBuffer start_, duration_, correlation_, thread_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_CALL_ENCODER_H_
