// One rank of a job, on the GPU of its LOCAL_RANK: each step is two matrix products and an
// all-reduce, which ends when all ranks have come. RANK, LOCAL_RANK and WORLD_SIZE are torchrun's.
//
//   ranks STEPS            all ranks alike
//   ranks STEPS slow R     rank R computes half as long again in each step
//   ranks STEPS missing R  the same, and then rank R does not come to one more all-reduce, in which
//                          the others wait without end
//
// It ends with its parent, as a rank does with its launcher.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr size_t kGemm = 0;
constexpr size_t kAllReduce = 1;
// The host runs ahead of the GPU by so many steps, so that its delays are not the GPU's.
constexpr uint64_t kStepsAhead = 32;

uint32_t Number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

std::vector<KernelImage> Kernels(uint32_t ranks) {
  return {
      {.name = "_Z4gemmPfPKfS1_i",
       .duration_ns = 4'000'000,
       .tensor_flops = 2e12,
       .dram_read_bytes = 3e8,
       .dram_write_bytes = 1e8},
      {.name = "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE",
       .duration_ns = 1'000'000,
       .dram_read_bytes = 1e8,
       .dram_write_bytes = 1e8,
       .ranks = ranks}};
}

class Rank {
 public:
  Rank()
      : kernels_(Kernels(Number("WORLD_SIZE"))),
        target_(kernels_, static_cast<int>(Number("LOCAL_RANK"))) {
    for (CUevent& event : done_) Check(cuEventCreate(&event, 0), "cuEventCreate");
  }

  void Work(uint64_t steps, bool slow) {
    for (uint64_t step = 0; step < steps; ++step) {
      target_.Launch(kGemm, slow ? 3 : 2);
      target_.Launch(kAllReduce);
      CUevent& done = done_[step % kStepsAhead];  // of as many steps before
      if (step >= kStepsAhead) Check(cuEventSynchronize(done), "cuEventSynchronize");
      Check(cuEventRecord(done, nullptr), "cuEventRecord");
    }
    target_.Synchronize();
    target_.expectation.Print();
  }

  void WaitWithoutEnd(bool missing) {
    target_.Launch(kGemm, 2);
    if (!missing) target_.Launch(kAllReduce);
    pause();
  }

 private:
  const std::vector<KernelImage> kernels_;
  Target target_;
  std::array<CUevent, kStepsAhead> done_;
};

}  // namespace
}  // namespace utlz::fake

int main(int count, char** arguments) {
  using utlz::fake::Number;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const uint64_t steps = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100;
  const bool planted = count > 3 && Number("RANK") == std::strtoul(arguments[3], nullptr, 10);
  const bool hangs = count > 3 && std::strcmp(arguments[2], "missing") == 0;
  utlz::fake::Rank rank;
  rank.Work(steps, planted && !hangs);
  if (hangs) rank.WaitWithoutEnd(planted);
  return 0;
}
