// NVTX ranges: CUPTI gives a record at each end; they are joined here and sent as MarkerBatch.
// Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_MARKER_ENCODER_H_
#define UTLZ_INJECT_RECORD_MARKER_ENCODER_H_

#include <cstdint>

#include "inject/base/pb_writer.h"
#include "inject/driver/cupti_abi.h"
#include "inject/record/string_table.h"

namespace utlz::agent {

class MarkerEncoder {
 public:
  static constexpr uint32_t kMaxMarkers = 8 << 10;
  static constexpr uint32_t kMaxOpen = 1 << 14;  // ranges begun and not yet ended

  bool Create(StringTable* strings);
  // Forgets the ranges that are open.
  void Clear();
  void Add(const cupti::MarkerRecord& record);
  bool Full() const { return markers_ >= kMaxMarkers; }
  bool Empty() const { return markers_ == 0; }
  void Finish(ByteBuffer* message);

 private:
  struct Open {
    uint32_t id;  // CUPTI's, 0 = free
    uint32_t name;
    uint32_t domain;
    uint32_t depth;
    uint32_t thread;  // that began it; another one may end it
    uint64_t start_ns;
  };
  static constexpr uint32_t kMaxThreads = 1024;
  struct ThreadDepth {
    uint32_t thread;
    uint32_t depth;
  };

  void Append(const Open& range, uint64_t duration_ns);
  uint32_t& DepthOf(uint32_t thread);

  StringTable* strings_ = nullptr;
  Open* open_ = nullptr;
  ThreadDepth* threads_ = nullptr;
  uint32_t markers_ = 0;
  uint64_t base_ns_ = 0;
  uint64_t previous_start_ns_ = 0;
  ByteBuffer start_, duration_, name_, domain_, thread_, depth_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_MARKER_ENCODER_H_
