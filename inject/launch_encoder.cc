#include "inject/launch_encoder.h"

#include <initializer_list>

#include "inject/memory.h"

namespace utlz::inject {

bool LaunchEncoder::Create(VariantTable* variants, bool with_correlation) {
  variants_ = variants;
  with_correlation_ = with_correlation;
  constexpr uint32_t kColumnBytes = (kMaxLaunches + 1) * 10;
  ByteBuffer* const columns[] = {&run_predicted_,  &run_variant_,      &gap_,
                                 &duration_,       &segment_count_,    &segment_stream_,
                                 &segment_context_, &segment_graph_,   &correlation_,
                                 &timeless_variant_, &timeless_count_};
  constexpr uint32_t kColumns = sizeof columns / sizeof columns[0];
  auto* memory = MapArray<uint8_t>(uint64_t{kColumns} * kColumnBytes);
  if (memory == nullptr) return false;
  for (uint32_t i = 0; i < kColumns; ++i) {
    *columns[i] = ByteBuffer(memory + uint64_t{i} * kColumnBytes, kColumnBytes);
  }
  Reset();
  return true;
}

void LaunchEncoder::Reset() {
  for (ByteBuffer* column :
       {&run_predicted_, &run_variant_, &gap_, &duration_, &segment_count_, &segment_stream_,
        &segment_context_, &segment_graph_, &correlation_, &timeless_variant_, &timeless_count_}) {
    column->Clear();
  }
  ++batch_;
  launches_ = timeless_ = predicted_run_ = segment_launches_ = 0;
  previous_variant_ = first_variant_ = previous_correlation_ = 0;
}

// The variant's entry with predictors that are valid in this batch.
Variant& LaunchEncoder::Fresh(uint32_t id) {
  Variant& variant = variants_->At(id);
  if (variant.batch != batch_) {
    variant.batch = batch_;
    variant.next = 0;
    variant.last_gap_ns = 0;
    variant.last_duration_ns = 0;
  }
  return variant;
}

void LaunchEncoder::AddVariant(uint32_t variant) {
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

void LaunchEncoder::CloseSegment() {
  if (segment_launches_ == 0) return;
  segment_count_.Varint(segment_launches_);
  segment_stream_.Varint(segment_.stream);
  segment_context_.Varint(segment_.context);
  segment_graph_.Varint(segment_.graph_launch);
  segment_launches_ = 0;
}

void LaunchEncoder::Add(const Launch& launch) {
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

  if (segment_launches_ != 0 &&
      (launch.stream != segment_.stream || launch.context != segment_.context ||
       launch.graph_launch != segment_.graph_launch)) {
    CloseSegment();
  }
  segment_ = launch;
  ++segment_launches_;
  if (with_correlation_) {
    correlation_.Varint(
        ZigZag(static_cast<int64_t>(launch.correlation) - int64_t{previous_correlation_}));
    previous_correlation_ = launch.correlation;
  }
  ++launches_;
}

void LaunchEncoder::AddTimeless(uint32_t variant) {
  timeless_variant_.Varint(variant);
  timeless_count_.Varint(1);
  ++timeless_;
}

void LaunchEncoder::Finish(ByteBuffer* message) {
  CloseSegment();
  if (predicted_run_ != 0) run_predicted_.Varint(predicted_run_);
  PbWriter out(message);
  out.Fixed64(1, base_ns_);
  out.Uint(2, launches_);
  out.Buffer(3, run_predicted_);
  out.Buffer(4, run_variant_);
  out.Buffer(5, gap_);
  out.Buffer(6, duration_);
  out.Buffer(7, segment_count_);
  out.Buffer(8, segment_stream_);
  out.Buffer(9, segment_context_);
  out.Buffer(10, segment_graph_);
  out.Buffer(11, correlation_);
  out.Buffer(12, timeless_variant_);
  out.Buffer(13, timeless_count_);
  Reset();
}

}  // namespace utlz::inject
