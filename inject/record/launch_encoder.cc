#include "inject/record/launch_encoder.h"

#include <initializer_list>

#include "inject/base/columns.h"
#include "proto/profile_fields.h"

namespace utlz::agent {

bool LaunchEncoder::Create(VariantTable* variants, bool with_correlation) {
  variants_ = variants;
  with_correlation_ = with_correlation;
  if (!MapColumns(
          {&run_predicted_, &run_variant_, &gap_, &duration_, &segment_count_, &segment_stream_,
           &segment_context_, &segment_graph_, &correlation_, &untimed_variant_, &untimed_count_},
          kMaxLaunches + 1)) {
    return false;
  }
  Reset();
  return true;
}

void LaunchEncoder::Reset() {
  for (ByteBuffer* column :
       {&run_predicted_, &run_variant_, &gap_, &duration_, &segment_count_, &segment_stream_,
        &segment_context_, &segment_graph_, &correlation_, &untimed_variant_, &untimed_count_}) {
    column->Clear();
  }
  ++batch_;
  launches_ = untimed_ = untimed_operations_ = predicted_run_ = segment_launches_ = 0;
  previous_variant_ = first_variant_ = previous_correlation_ = 0;
}

void LaunchEncoder::CloseSegment() {
  if (segment_launches_ == 0) return;
  segment_count_.Varint(segment_launches_);
  segment_stream_.Varint(segment_.stream);
  segment_context_.Varint(segment_.context);
  segment_graph_.Varint(segment_.graph_launch);
  segment_launches_ = 0;
}

void LaunchEncoder::AddCorrelation(uint32_t correlation) {
  correlation_.Varint(ZigZag(static_cast<int64_t>(correlation) - int64_t{previous_correlation_}));
  previous_correlation_ = correlation;
}

void LaunchEncoder::AddUntimed(uint32_t variant) {
  untimed_variant_.Varint(variant);
  untimed_count_.Varint(1);
  ++untimed_;
}

void LaunchEncoder::Finish(ByteBuffer* message) {
  namespace field = wire::LaunchBatch;
  CloseSegment();
  if (predicted_run_ != 0) run_predicted_.Varint(predicted_run_);
  PbWriter out(message);
  out.Fixed64(field::kBaseNs, base_ns_);
  out.Uint(field::kLaunches, launches_);
  out.Buffer(field::kRunPredicted, run_predicted_);
  out.Buffer(field::kRunVariant, run_variant_);
  out.Buffer(field::kGapResidual, gap_);
  out.Buffer(field::kDurationResidual, duration_);
  out.Buffer(field::kSegmentLaunches, segment_count_);
  out.Buffer(field::kSegmentStream, segment_stream_);
  out.Buffer(field::kSegmentContext, segment_context_);
  out.Buffer(field::kSegmentCorrelation, segment_graph_);
  out.Buffer(field::kCorrelationDelta, correlation_);
  out.Buffer(field::kUntimedVariant, untimed_variant_);
  out.Buffer(field::kUntimedLaunches, untimed_count_);
  out.Uint(field::kUntimedOperations, untimed_operations_);
  Reset();
}

}  // namespace utlz::agent
