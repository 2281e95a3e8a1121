// Kernel launches as the columns of LaunchBatch (proto/profile.proto says how they are predicted
// and rebuilt). Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_LAUNCH_ENCODER_H_
#define UTLZ_INJECT_RECORD_LAUNCH_ENCODER_H_

#include <cstdint>

#include "inject/base/pb_writer.h"
#include "inject/record/variant_table.h"

namespace utlz::agent {

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
  void AddUntimed(uint32_t variant);
  // Launches of their own, or of graphs, of which no record has times.
  void AddUntimedOperations(uint32_t operations) { untimed_operations_ += operations; }
  bool Full() const { return launches_ + untimed_ >= kMaxLaunches; }
  bool Empty() const { return launches_ + untimed_ == 0; }
  uint32_t launches() const { return launches_; }
  // Writes the batch as a message and begins a new one.
  void Finish(ByteBuffer* message);

 private:
  void Reset();
  void AddVariant(uint32_t variant);
  Variant& Fresh(uint32_t variant);
  void CloseSegment();
  void AddCorrelation(uint32_t correlation);

  VariantTable* variants_ = nullptr;
  bool with_correlation_ = false;
  uint32_t batch_ = 0;
  uint32_t launches_ = 0;
  uint32_t untimed_ = 0;
  uint32_t untimed_operations_ = 0;
  uint64_t base_ns_ = 0;
  uint64_t previous_end_ns_ = 0;
  uint32_t previous_variant_ = 0;
  uint32_t first_variant_ = 0;  // next[0]
  uint32_t predicted_run_ = 0;
  struct Segment {
    uint32_t stream;
    uint32_t context;
    uint32_t graph_launch;
  };
  Segment segment_ = {};
  uint32_t segment_launches_ = 0;
  uint32_t previous_correlation_ = 0;
  ByteBuffer run_predicted_, run_variant_, gap_, duration_;
  ByteBuffer segment_count_, segment_stream_, segment_context_, segment_graph_;
  ByteBuffer correlation_, untimed_variant_, untimed_count_;
};

// The variant's entry with predictors that are valid in this batch.
inline Variant& LaunchEncoder::Fresh(uint32_t id) {
  Variant& variant = variants_->At(id);
  if (variant.batch != batch_) {
    variant.batch = batch_;
    variant.next = 0;
    variant.last_gap_ns = 0;
    variant.last_duration_ns = 0;
  }
  return variant;
}

inline void LaunchEncoder::AddVariant(uint32_t variant) {
  uint32_t& next = previous_variant_ == 0 ? first_variant_ : variants_->At(previous_variant_).next;
  if (next == variant) {
    ++predicted_run_;
  } else {
    run_predicted_.Varint(predicted_run_);
    run_variant_.Varint(variant);
    predicted_run_ = 0;
    next = variant;
  }
  previous_variant_ = variant;
}

[[gnu::always_inline]] inline void LaunchEncoder::Add(const Launch& launch) {
  if (launches_ == 0) base_ns_ = previous_end_ns_ = launch.start_ns;
  Variant& variant = Fresh(launch.variant);
  AddVariant(launch.variant);

  const auto gap = static_cast<int64_t>(launch.start_ns - previous_end_ns_);
  const auto duration = static_cast<int64_t>(launch.end_ns - launch.start_ns);
  gap_.Varint(ZigZag(gap - variant.last_gap_ns));
  duration_.Varint(ZigZag(duration - variant.last_duration_ns));
  variant.last_gap_ns = gap;
  variant.last_duration_ns = duration;
  previous_end_ns_ = launch.end_ns;

  if (launch.stream != segment_.stream || launch.context != segment_.context ||
      launch.graph_launch != segment_.graph_launch) {
    CloseSegment();
    segment_ = {launch.stream, launch.context, launch.graph_launch};
  }
  ++segment_launches_;
  if (with_correlation_) AddCorrelation(launch.correlation);
  ++launches_;
}

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_LAUNCH_ENCODER_H_
