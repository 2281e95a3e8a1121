// Makes summaries of runs that never ran, with noise between launches, steps and runs.
#ifndef UTLZ_TESTS_UNIT_COMPARE_RUN_MAKER_H_
#define UTLZ_TESTS_UNIT_COMPARE_RUN_MAKER_H_

#include <cstdint>
#include <random>
#include <string>

#include "proto/summary.pb.h"

namespace utlz {

inline constexpr uint32_t kUsualSteps = 100;

struct RunShape {
  uint32_t kernels = 40;
  uint32_t steps = kUsualSteps;
  double step_ns = 10e6;
  double step_deviation_share = 0.01;  // of one step
  double run_deviation_share = 0;      // of everything, between runs
};

class RunMaker {
 public:
  explicit RunMaker(uint64_t seed) : random_(seed) {}

  // A run whose kernels fill 80 % of each step, each launched once a step.
  Summary Make(const RunShape& shape);

 private:
  double Normal(double mean, double deviation);

  std::mt19937_64 random_;
};

KernelSummary* FindKernel(Summary& run, const std::string& short_name);

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_COMPARE_RUN_MAKER_H_
