// Kernel launches as the columns of LaunchBatch (proto/profile.proto says how they are predicted
// and rebuilt). Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_LAUNCH_ENCODER_H_
#define UTLZ_INJECT_LAUNCH_ENCODER_H_

#include <cstdint>

#include "inject/pb_writer.h"
#include "inject/variant_table.h"

namespace utlz::inject {

struct Launch {
  uint32_t variant;
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t stream;
  uint32_t context;
  uint32_t graph_launch;  // correlation of the graph launch, 0 = no graph
  uint32_t correlation;
};

class LaunchEncoder {
 public:
  static constexpr uint32_t kMaxLaunches = 16 << 10;

  bool Create(VariantTable* variants, bool with_correlation);
  // For batches that are yet to begin; none may be under way.
  void SetWithCorrelation(bool with_correlation) { with_correlation_ = with_correlation; }
  void Add(const Launch& launch);
  void AddTimeless(uint32_t variant);
  bool Full() const { return launches_ + timeless_ >= kMaxLaunches; }
  bool Empty() const { return launches_ + timeless_ == 0; }
  uint32_t launches() const { return launches_; }
  // Writes the batch as a message and begins a new one.
  void Finish(ByteBuffer* message);

 private:
  void Reset();
  void AddVariant(uint32_t variant);
  Variant& Fresh(uint32_t variant);
  void CloseSegment();

  VariantTable* variants_ = nullptr;
  bool with_correlation_ = false;
  uint32_t batch_ = 0;
  uint32_t launches_ = 0;
  uint32_t timeless_ = 0;
  uint64_t base_ns_ = 0;
  uint64_t previous_end_ns_ = 0;
  uint32_t previous_variant_ = 0;
  uint32_t first_variant_ = 0;  // next[0]
  uint32_t predicted_run_ = 0;
  Launch segment_ = {};
  uint32_t segment_launches_ = 0;
  uint32_t previous_correlation_ = 0;
  ByteBuffer run_predicted_, run_variant_, gap_, duration_;
  ByteBuffer segment_count_, segment_stream_, segment_context_, segment_graph_;
  ByteBuffer correlation_, timeless_variant_, timeless_count_;
};

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_LAUNCH_ENCODER_H_
