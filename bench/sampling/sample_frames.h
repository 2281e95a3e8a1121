// Makes the frames that the sampler of a simulated run sends: samples of what ran, at each launch's
// mean rate, rounded to whole steps of each counter.
#ifndef UTLZ_BENCH_SAMPLING_SAMPLE_FRAMES_H_
#define UTLZ_BENCH_SAMPLING_SAMPLE_FRAMES_H_

#include <cstdint>
#include <deque>
#include <string>

#include "bench/diagnosis/sampled_metrics.h"
#include "bench/sampling/simulated_sampler.h"
#include "bench/sampling/start_up_load.h"
#include "collector/run/run_intake.h"

namespace utlz {

struct SampledWork {
  uint64_t samples = 0;
  bool busy = false;
};

class SampleFrames {
 public:
  SampleFrames(const RecordedLoad& recorded, RunIntake* intake);

  void Begin();
  void Ran(const LoadLaunch& launch);
  SampledWork Sampled(const SampledWindow& window);
  bool any() const { return any_; }

 private:
  template <typename Message>
  void Send(FrameType type, const Message& message);
  void AnnounceSet(SampledSet set);
  MetricValues Between(uint64_t start_ns, uint64_t end_ns, size_t* from) const;

  const RecordedLoad& recorded_;
  RunIntake* intake_;
  std::string uuid_;
  std::deque<LoadLaunch> launches_;  // of the last seconds
  bool any_ = false;
};

}  // namespace utlz

#endif  // UTLZ_BENCH_SAMPLING_SAMPLE_FRAMES_H_
