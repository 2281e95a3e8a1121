// Copies and memory sets as the columns of CopyBatch. Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_COPY_ENCODER_H_
#define UTLZ_INJECT_RECORD_COPY_ENCODER_H_

#include <cstdint>

#include "inject/base/pb_writer.h"

namespace utlz::agent {

struct Copy {
  uint32_t kind;  // CopyKind of profile.proto
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t bytes;
  uint32_t stream;
  uint32_t context;
  uint32_t flags;  // CopyFlag
  uint64_t graph_node;
};

class CopyEncoder {
 public:
  static constexpr uint32_t kMaxCopies = 8 << 10;

  bool Create();
  void Add(const Copy& copy);  // one without timestamps is counted
  bool Full() const { return copies_ >= kMaxCopies; }
  bool Empty() const { return copies_ + untimed_ == 0; }
  void Finish(ByteBuffer* message);

 private:
  uint32_t copies_ = 0;
  uint32_t untimed_ = 0;
  uint64_t base_ns_ = 0;
  uint64_t previous_start_ns_ = 0;
  ByteBuffer kind_, start_, duration_, bytes_, stream_, context_, flags_, graph_node_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_COPY_ENCODER_H_
