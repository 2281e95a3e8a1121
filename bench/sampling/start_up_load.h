// A program that compiles and tunes before it steps, made of a recorded step: launches in time
// order, as they would run on a GPU without utlz. The same seed gives the same launches.
//
// While it starts up it compiles, with the GPU idle, and tries candidates of kernels by turns; each
// candidate is a kernel of its own that never comes back. Then it repeats the recorded step.
#ifndef UTLZ_BENCH_SAMPLING_START_UP_LOAD_H_
#define UTLZ_BENCH_SAMPLING_START_UP_LOAD_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/diagnosis/recorded_load.h"

namespace utlz {

struct StartUpOptions {
  uint64_t start_up_ns = 0;
  uint64_t step_ns = 0;  // as it was recorded; what its kernels leave are gaps
  // Of it, what it launches in; it waits for its input before that. 0: all of it.
  uint64_t launching_ns = 0;
  uint64_t seed = 1;
};

struct LoadLaunch {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint32_t kernel = 0;  // index into kernels()
  LaunchWork work;
};

class StartUpLoad {
 public:
  StartUpLoad(const RecordedLoad& recorded, const StartUpOptions& options);

  // Adds the launches that start before `until_ns`.
  void Take(uint64_t until_ns, std::vector<LoadLaunch>* launches);

  // Those of the step first, then the candidates so far.
  const std::vector<RecordedKernel>& kernels() const { return kernels_; }
  size_t step_kernels() const { return step_kernels_; }
  double LaunchesPerStep(uint32_t kernel) const;
  // What the GPU can do at most: bytes of DRAM, and cycles of all its tensor pipes.
  double most_bytes_per_ns() const { return most_bytes_per_ns_; }
  double most_cycles_per_ns() const { return most_cycles_per_ns_; }
  uint64_t first_step_ns() const { return options_.start_up_ns; }

 private:
  LoadLaunch Next();
  void ChooseCandidate();
  LoadLaunch Launch(uint32_t kernel, double gap_ns);
  double Jitter(double relative);

  const StartUpOptions options_;
  const std::vector<uint32_t> step_;
  std::vector<RecordedKernel> kernels_;
  const size_t step_kernels_;
  const double step_kernel_ns_;
  const double most_bytes_per_ns_;
  const double most_cycles_per_ns_;
  double gap_ns_ = 0;
  double pause_ns_ = 0;  // before a step
  std::mt19937_64 random_;
  uint64_t now_ns_ = 0;
  uint64_t tuning_until_ns_ = 0;
  uint32_t candidate_ = 0;
  uint32_t trials_left_ = 0;
  size_t place_ = 0;  // in the step
  LoadLaunch next_;
};

}  // namespace utlz

#endif  // UTLZ_BENCH_SAMPLING_START_UP_LOAD_H_
