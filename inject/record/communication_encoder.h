// Calls into a communication library as the columns of CommunicationCallBatch. Guarded by the
// agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_COMMUNICATION_ENCODER_H_
#define UTLZ_INJECT_RECORD_COMMUNICATION_ENCODER_H_

#include <cstdint>

#include "inject/base/pb_writer.h"
#include "inject/record/communication_calls.h"
#include "inject/record/string_table.h"

namespace utlz::agent {

class CommunicationEncoder {
 public:
  static constexpr uint32_t kMaxCalls = 8 << 10;

  bool Create(StringTable* strings);
  void Add(const CommunicationCall& call);
  bool Full() const { return calls_ >= kMaxCalls; }
  bool Empty() const { return calls_ == 0; }
  uint32_t calls() const { return calls_; }
  // `lost`: calls since the last batch that are in none.
  void Finish(uint64_t lost, ByteBuffer* message);

 private:
  StringTable* strings_ = nullptr;
  uint32_t calls_ = 0;
  uint64_t base_ns_ = 0;
  uint64_t previous_ns_ = 0;
  ByteBuffer time_, thread_, function_, bytes_, communicator_, ranks_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_COMMUNICATION_ENCODER_H_
