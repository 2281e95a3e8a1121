#include "collector/counters/unseen_work.h"

#include <algorithm>
#include <optional>

namespace utlz {
namespace {

// Kernels follow each other with pauses of some microseconds, and samples are ten long.
constexpr uint64_t kShortestNs = 50'000;
// Programs launch ahead by steps.
constexpr uint64_t kLongestNs = 5'000'000'000;
// At least so much of the time before the first record is sampled: the sampler begins some
// milliseconds after the window.
constexpr double kSampledShare = 0.25;
// For at least so much of that time the multiprocessors are active without a record.
constexpr double kUnseenShare = 0.5;

// The process's work from `since_ns` on, as far as it was recorded.
class Recorded {
 public:
  explicit Recorded(uint64_t since_ns) : until_ns_(since_ns) {}

  void Add(const Activity& activity) {
    const uint64_t start_ns = std::max(activity.start_ns, until_ns_);
    if (activity.end_ns <= start_ns) return;
    time_ns_ += activity.end_ns - start_ns;
    until_ns_ = activity.end_ns;
  }
  // What was added had started before.
  double TimeUntil(uint64_t time_ns) const {
    return static_cast<double>(time_ns_ - (until_ns_ - std::min(until_ns_, time_ns)));
  }

 private:
  uint64_t until_ns_;
  uint64_t time_ns_ = 0;
};

// Until when the GPU worked between these times without a record; nothing where it did not.
std::optional<uint64_t> EndOfUnseen(uint64_t start_ns, uint64_t end_ns, const Recorded& recorded,
                                    const AttributionFeed& attribution) {
  if (end_ns < start_ns + kShortestNs) return std::nullopt;
  const auto length_ns = static_cast<double>(end_ns - start_ns);
  const WorkWithoutRecords::Seen seen = attribution.SeenBetween(start_ns, end_ns);
  const auto sampled_ns = static_cast<double>(seen.sampled_ns);
  if (sampled_ns < kSampledShare * length_ns) return std::nullopt;
  const double active_share = static_cast<double>(seen.active_ns) / sampled_ns;
  if (active_share - recorded.TimeUntil(end_ns) / length_ns < kUnseenShare) return std::nullopt;
  return seen.active_until_ns;
}

}  // namespace

uint64_t EndOfUnseenWork(const Activity& untraced, std::span<const Activity> after,
                         std::pair<uint32_t, uint32_t> busiest,
                         const AttributionFeed& attribution) {
  const uint64_t since_ns = untraced.end_ns;
  const Recorded nothing(since_ns);
  Recorded recorded(since_ns);
  std::optional<uint64_t> first_ns;
  for (const Activity& activity : after) {
    if (activity.start_ns > since_ns + kLongestNs) break;
    if (activity.start_ns < since_ns) continue;
    // Samples do not say which process was active.
    if (activity.source != untraced.source) return since_ns;
    if (activity.kind == ActivityKind::kUntraced) break;
    if (!first_ns.has_value()) first_ns = activity.start_ns;
    if (std::pair(activity.context, activity.stream) == busiest) {
      const auto end_ns = EndOfUnseen(since_ns, activity.start_ns, recorded, attribution);
      if (end_ns.has_value()) return *end_ns;
      break;
    }
    recorded.Add(activity);
  }
  if (!first_ns.has_value()) return since_ns;
  return EndOfUnseen(since_ns, *first_ns, nothing, attribution).value_or(since_ns);
}

}  // namespace utlz
