#include "inject/record/launch_encoder.h"

#include <initializer_list>

#include "inject/base/memory.h"

namespace utlz::inject {

bool LaunchEncoder::Create(VariantTable* variants, bool with_correlation) {
  variants_ = variants;
  with_correlation_ = with_correlation;
  constexpr uint32_t kColumnBytes = (kMaxLaunches + 1) * 10;
  ByteBuffer* const columns[] = {&run_predicted_,    &run_variant_,   &gap_,
                                 &duration_,         &segment_count_, &segment_stream_,
                                 &segment_context_,  &segment_graph_, &correlation_,
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
  launches_ = timeless_ = timeless_operations_ = predicted_run_ = segment_launches_ = 0;
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
  out.Uint(14, timeless_operations_);
  Reset();
}

}  // namespace utlz::inject
