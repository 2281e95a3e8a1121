#include "collector/decode/launch_decoder.h"

#include <google/protobuf/arena.h>

#include <algorithm>

#include "proto/stack_context.h"

namespace utlz {
namespace {

constexpr size_t kArenaBlockBytes = 4u << 20;

}  // namespace

LaunchDecoder::Predictor* LaunchDecoder::PredictorOf(uint32_t variant) {
  if (variant >= kMaxVariantIds) return nullptr;
  if (variant >= predictors_.size()) {
    predictors_.resize(std::max<size_t>(variant + size_t{1}, predictors_.size() * 2));
  }
  Predictor* predictor = &predictors_[variant];
  if (predictor->epoch != epoch_) *predictor = {.epoch = epoch_};
  return predictor;
}

bool LaunchDecoder::DecodeVariants(const LaunchBatch& batch) {
  const int runs = batch.run_predicted_size();
  if (batch.run_variant_size() != runs && batch.run_variant_size() != runs - 1) return false;
  uint32_t previous = 0;
  uint32_t filled = 0;
  for (int run = 0; run < runs; ++run) {
    const uint32_t predicted = batch.run_predicted(run);
    if (predicted > batch.launches() - filled) return false;
    for (uint32_t i = 0; i < predicted; ++i) {
      previous = PredictorOf(previous)->next;
      decoded_.launches[filled++].variant = previous;
    }
    if (run == batch.run_variant_size()) break;
    if (filled == batch.launches()) return false;
    const uint32_t variant = batch.run_variant(run);
    if (PredictorOf(variant) == nullptr) return false;
    PredictorOf(previous)->next = variant;
    decoded_.launches[filled++].variant = variant;
    previous = variant;
  }
  return filled == batch.launches();
}

bool LaunchDecoder::DecodeTimes(const LaunchBatch& batch) {
  const uint32_t launches = batch.launches();
  if (static_cast<uint32_t>(batch.gap_residual_size()) != launches ||
      static_cast<uint32_t>(batch.duration_residual_size()) != launches) {
    return false;
  }
  // Unsigned arithmetic: a hostile residual wraps instead of overflowing, and its launch is
  // refused.
  uint64_t previous_end = batch.base_ns();
  const int64_t* gap_residual = batch.gap_residual().data();
  const int64_t* duration_residual = batch.duration_residual().data();
  for (uint32_t i = 0; i < launches; ++i) {
    Launch& launch = decoded_.launches[i];
    Predictor& predictor = predictors_[launch.variant];
    const uint64_t gap =
        static_cast<uint64_t>(predictor.gap) + static_cast<uint64_t>(gap_residual[i]);
    const uint64_t duration =
        static_cast<uint64_t>(predictor.duration) + static_cast<uint64_t>(duration_residual[i]);
    predictor.gap = static_cast<int64_t>(gap);
    predictor.duration = static_cast<int64_t>(duration);
    launch.start_ns = previous_end + gap;
    launch.end_ns = launch.start_ns + duration;
    launch.correlation = 0;
    launch.stack = 0;
    if (static_cast<int64_t>(launch.start_ns) <= 0 || static_cast<int64_t>(duration) < 0 ||
        static_cast<int64_t>(launch.end_ns) < 0) {
      return false;
    }
    previous_end = launch.end_ns;
  }
  return true;
}

bool LaunchDecoder::DecodeSegments(const LaunchBatch& batch) {
  const int segments = batch.segment_launches_size();
  if (batch.segment_stream_size() != segments || batch.segment_context_size() != segments ||
      (batch.segment_correlation_size() != segments && batch.segment_correlation_size() != 0)) {
    return false;
  }
  uint64_t launches = 0;
  for (int i = 0; i < segments; ++i) {
    launches += batch.segment_launches(i);
    if (launches > batch.launches()) return false;
    decoded_.segments.push_back({.launches = batch.segment_launches(i),
                                 .stream = batch.segment_stream(i),
                                 .context = batch.segment_context(i),
                                 .graph_correlation = batch.segment_correlation_size() != 0
                                                          ? batch.segment_correlation(i)
                                                          : 0});
  }
  return launches == batch.launches();
}

bool LaunchDecoder::DecodeCorrelations(const LaunchBatch& batch) {
  if (batch.correlation_delta_size() == 0) return true;
  if (static_cast<uint32_t>(batch.correlation_delta_size()) != batch.launches()) return false;
  uint64_t correlation = 0;
  for (uint32_t i = 0; i < batch.launches(); ++i) {
    correlation += static_cast<uint64_t>(batch.correlation_delta(static_cast<int>(i)));
    decoded_.launches[i].correlation = static_cast<uint32_t>(correlation);
  }
  return true;
}

bool LaunchDecoder::DecodeUntimed(const LaunchBatch& batch) {
  if (batch.untimed_variant_size() != batch.untimed_launches_size()) return false;
  uint64_t launches = 0;
  for (int i = 0; i < batch.untimed_variant_size(); ++i) {
    if (batch.untimed_variant(i) >= kMaxVariantIds) return false;
    decoded_.untimed.push_back({batch.untimed_variant(i), batch.untimed_launches(i)});
    launches += batch.untimed_launches(i);
  }
  decoded_.untimed_operations = batch.untimed_operations();
  // One of a graph may come with the batch after its nodes.
  return batch.untimed_operations() <= launches + 1;
}

bool LaunchDecoder::DecodeStacks(const LaunchBatch& batch) {
  const int runs = batch.stack_predicted_size();
  if (runs == 0) return batch.stack_literal_size() == 0 && batch.stack_delta_size() == 0;
  if (batch.stack_literal_size() != runs && batch.stack_literal_size() != runs - 1) return false;
  stack_predictions_.assign(StackContext::kEntries, 0);
  StackContext context;
  uint32_t filled = 0;
  int delta = 0;
  for (int run = 0; run < runs; ++run) {
    const uint32_t predicted = batch.stack_predicted(run);
    const uint32_t literal = run < batch.stack_literal_size() ? batch.stack_literal(run) : 0;
    if (uint64_t{predicted} + literal > batch.launches() - filled ||
        literal > static_cast<uint32_t>(batch.stack_delta_size() - delta)) {
      return false;
    }
    for (uint32_t i = 0; i < predicted + literal; ++i) {
      Launch& launch = decoded_.launches[filled++];
      uint32_t& prediction = stack_predictions_[context.EntryOf(launch.variant)];
      if (i >= predicted) {
        prediction = context.last + static_cast<uint32_t>(batch.stack_delta(delta++));
      }
      launch.stack = prediction;
      context.Advance(launch.stack);
    }
  }
  return filled == batch.launches() && delta == batch.stack_delta_size();
}

const DecodedLaunches* LaunchDecoder::Decode(std::string_view payload) {
  arena_block_.resize(kArenaBlockBytes);
  google::protobuf::ArenaOptions options;
  options.initial_block = arena_block_.data();
  options.initial_block_size = arena_block_.size();
  google::protobuf::Arena arena(options);
  auto* batch = google::protobuf::Arena::CreateMessage<LaunchBatch>(&arena);
  if (!batch->ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return nullptr;
  if (batch->launches() > kMaxLaunchesPerBatch ||
      static_cast<uint32_t>(batch->gap_residual_size()) != batch->launches()) {
    return nullptr;
  }
  ++epoch_;
  decoded_.launches.resize(batch->launches());
  decoded_.segments.clear();
  decoded_.untimed.clear();
  PredictorOf(0);
  const bool sound = DecodeVariants(*batch) && DecodeTimes(*batch) && DecodeSegments(*batch) &&
                     DecodeCorrelations(*batch) && DecodeUntimed(*batch) && DecodeStacks(*batch);
  return sound ? &decoded_ : nullptr;
}

}  // namespace utlz
