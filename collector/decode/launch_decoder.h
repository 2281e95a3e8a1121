// Turns a LaunchBatch (profile.proto documents its columns) back into launches.
//
// The batch is hostile: columns must agree in length, identifiers and the number of launches are
// bounded, and a batch that breaks a rule yields nothing. The buffers are kept between batches, so
// decoding allocates only when a batch is larger than every earlier one.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_DECODE_LAUNCH_DECODER_H_
#define UTLZ_COLLECTOR_DECODE_LAUNCH_DECODER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

inline constexpr uint32_t kMaxLaunchesPerBatch = 4u << 20;
// Variant identifiers are small integers that the agent hands out one by one.
inline constexpr uint32_t kMaxVariantIds = 1u << 20;

struct Launch {
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t variant;
  uint32_t correlation;  // 0 where launch calls are not traced
  uint32_t stack = 0;    // identifier in the process (Stacks); 0 = none
};

// Consecutive launches of a batch on one stream.
struct LaunchSegment {
  uint32_t launches;
  uint32_t stream;
  uint32_t context;
  uint32_t graph_correlation;  // of the graph launch that they belong to; 0 = none
};

struct UntimedLaunches {
  uint32_t variant;
  uint32_t launches;
};

struct DecodedLaunches {
  std::vector<Launch> launches;
  std::vector<LaunchSegment> segments;  // together as many launches as above
  std::vector<UntimedLaunches> untimed;
  uint32_t untimed_operations = 0;  // launches, of their own or of graphs, without any times
};

class LaunchDecoder {
 public:
  // The launches of `payload`, valid until the next call; null if it is refused.
  const DecodedLaunches* Decode(std::string_view payload);

 private:
  struct Predictor {
    uint64_t epoch = 0;
    int64_t gap = 0;
    int64_t duration = 0;
    uint32_t next = 0;
  };

  Predictor* PredictorOf(uint32_t variant);
  bool DecodeVariants(const LaunchBatch& batch);
  bool DecodeTimes(const LaunchBatch& batch);
  bool DecodeSegments(const LaunchBatch& batch);
  bool DecodeCorrelations(const LaunchBatch& batch);
  bool DecodeUntimed(const LaunchBatch& batch);
  bool DecodeStacks(const LaunchBatch& batch);

  DecodedLaunches decoded_;
  // By variant; an entry of an earlier batch (epoch) counts as all zero.
  std::vector<Predictor> predictors_;
  uint64_t epoch_ = 0;
  std::vector<uint32_t> stack_predictions_;
  std::vector<char> arena_block_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_LAUNCH_DECODER_H_
