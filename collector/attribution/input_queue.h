// Checks what comes in, puts it in order, and hands out stretches of time that are complete.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_INPUT_QUEUE_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_INPUT_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/attribution/options.h"
#include "collector/attribution/recording.h"
#include "collector/attribution/solution.h"
#include "collector/attribution/variant_table.h"

namespace utlz::attribution {

class InputQueue {
 public:
  explicit InputQueue(const Options& options);

  void AddInterval(uint64_t variant, IntervalKind kind, int64_t start_ns, int64_t end_ns);
  void AddUntraced(int64_t start_ns, int64_t end_ns);
  void AddSample(int64_t start_ns, int64_t end_ns, std::span<const double> values);

  // True when samples wait that the bound would otherwise drop.
  bool full() const { return samples_.size() >= options_.max_pending_samples; }
  // Appends every sample that ends before the watermark, and the launches that reach into them, to
  // `recording`, which may hold the stretch before.
  void Take(int64_t watermark_ns, Recording* recording);

  const VariantTable& variants() const { return variants_; }
  const InputQuality& quality() const { return quality_; }

 private:
  struct PendingSample {
    Sample span;
    size_t row = 0;  // index of its first value
    bool contested = false;
  };

  struct Untraced {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    // The same up to the recorded launches on either side, once these are known: work that was
    // launched before records began, or ended after they did, runs there.
    int64_t unknown_from_ns = 0;
    int64_t unknown_to_ns = 0;
    bool begun = false;  // all launches before it are known
    bool ended = false;  // the launch after it is known
  };

  // Sorts what came since the last call into launches_.
  void SortLaunches();
  void SettleUntraced(int64_t before_ns);
  bool InUntraced(const Sample& sample) const;
  bool Valid(int64_t start_ns, int64_t end_ns, std::span<const double> values) const;
  void MarkContested();
  void TakeSamples(int64_t before_ns, Recording* recording);
  void TakeLaunches(int64_t before_ns, Recording* recording);

  Options options_;
  VariantTable variants_;
  InputQuality quality_;
  std::vector<Launch> launches_;
  size_t sorted_launches_ = 0;          // the first ones, by their start
  std::vector<int64_t> latest_end_ns_;  // of each sorted launch and those before it, taken or not
  std::vector<Untraced> untraced_;      // by start, apart from each other
  int64_t last_end_ns_;                 // of the launches taken
  std::vector<PendingSample> samples_;
  std::vector<double> values_;  // rows of samples_
  int64_t samples_taken_to_ns_;
  int64_t launches_taken_to_ns_;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_INPUT_QUEUE_H_
