// Attributes sampled device counters to the launches that ran meanwhile, for one GPU.
//
// Every launch of a variant does its work at a rate that varies over its life in the same way; the
// rates follow from a non-negative least-squares fit of all samples, and each sample's count is
// then divided among what ran in it in proportion to the fitted rates. Nothing is counted twice or
// lost: for every counter attributed + idle + unattributed = counted. docs/design/attribution.md
// has the model, its formulas and its measured errors.
//
// Pure computation: no clock, no input or output, no threads but those of Solve(). Not thread-safe;
// one engine a GPU.
// Any input is allowed; what cannot be used is refused and counted in InputQuality.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_ENGINE_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_ENGINE_H_

#include <cstdint>
#include <memory>
#include <span>

#include "collector/attribution/options.h"
#include "collector/attribution/solution.h"

namespace utlz::attribution {

class Engine {
 public:
  explicit Engine(Options options);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // One launch, copy or set: [start_ns, end_ns) on the clock of the samples. `variant` is the
  // caller's number of the kernel variant (or of the copy's kind), any value but kOtherVariants.
  // Intervals may come in any order and overlap, until their samples are processed.
  void AddInterval(uint64_t variant, IntervalKind kind, int64_t start_ns, int64_t end_ns);

  // A stretch of time in which launches may have run that were not recorded. Samples that touch it,
  // or the time from it to the nearest recorded launch, are left out: a count whose causes are not
  // known would teach a background that does not exist. Stretches may overlap and touch; each must
  // be known before its samples are processed.
  void AddUntraced(int64_t start_ns, int64_t end_ns);

  // One sample: what each of Options::counters grew by in [start_ns, end_ns).
  void AddSample(int64_t start_ns, int64_t end_ns, std::span<const double> values);

  // Says that every interval which starts before `watermark_ns` has been added, so that samples
  // before it may be processed. Without it samples wait, up to Options::max_pending_samples.
  void AdvanceTo(int64_t watermark_ns);

  // The estimates so far, of everything before the watermark. Costs a solution of the linear
  // system: call it when somebody looks, not for every batch. Up to `threads` share the work; the
  // solution does not depend on how many.
  Solution Solve(unsigned threads = 1) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_ENGINE_H_
