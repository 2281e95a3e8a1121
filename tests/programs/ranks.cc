// One rank of a job, on the GPU of its LOCAL_RANK: each step is two matrix products and an
// all-reduce, which ends when all ranks have come. RANK, LOCAL_RANK and WORLD_SIZE are torchrun's.
//
//   ranks STEPS            all ranks alike
//   ranks STEPS slow R     rank R computes half as long again in each step
//   ranks STEPS missing R  the same, and then rank R does not come to one more all-reduce, in which
//                          the others wait without end
//   ranks STEPS host R     each launches many short kernels in a step; rank R has no products, and its
//                          host pauses before each kernel, so that the others wait for it
//   ranks launch N …       starts N ranks with the other arguments, and waits for them, as torchrun
//
// It ends with its parent, as a rank does with its launcher.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr size_t kGemm = 0;
constexpr size_t kAllReduce = 1;
constexpr size_t kShort = 2;
constexpr uint64_t kShortInStep = 400;
constexpr timespec kPause = {0, 20'000};
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
       .ranks = ranks},
      {.name = "_Z5shortPf", .duration_ns = 500}};
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
      EndStep(step);
    }
    End();
  }

  void WorkInShortKernels(uint64_t steps, bool pauses) {
    for (uint64_t step = 0; step < steps; ++step) {
      if (!pauses) target_.Launch(kGemm, 2);
      for (uint64_t i = 0; i < kShortInStep; ++i) {
        if (pauses) nanosleep(&kPause, nullptr);
        target_.Launch(kShort);
      }
      EndStep(step);
    }
    End();
  }

  void WaitWithoutEnd(bool missing) {
    target_.Launch(kGemm, 2);
    if (!missing) target_.Launch(kAllReduce);
    pause();
  }

 private:
  void EndStep(uint64_t step) {
    target_.Launch(kAllReduce);
    CUevent& done = done_[step % kStepsAhead];  // of as many steps before
    if (step >= kStepsAhead) Check(cuEventSynchronize(done), "cuEventSynchronize");
    Check(cuEventRecord(done, nullptr), "cuEventRecord");
  }

  void End() {
    target_.Synchronize();
    target_.expectation.Print();
  }

  const std::vector<KernelImage> kernels_;
  Target target_;
  std::array<CUevent, kStepsAhead> done_;
};

void StartRank(int rank, const char* ranks, char** arguments) {
  if (fork() != 0) return;
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", ranks, 1);
  execv("/proc/self/exe", arguments);
  std::_Exit(127);
}

// The highest status of all.
int StartAll(const char* ranks, char** arguments) {
  for (int rank = 0; rank < std::atoi(ranks); ++rank) StartRank(rank, ranks, arguments);
  int highest = 0;
  for (int status = 0; wait(&status) > 0;) highest = std::max(highest, status);
  return highest == 0 ? 0 : 1;
}

int RunRank(uint64_t steps, const char* what, const char* planted_rank) {
  const bool planted = Number("RANK") == std::strtoul(planted_rank, nullptr, 10);
  const bool hangs = std::strcmp(what, "missing") == 0;
  Rank rank;
  if (std::strcmp(what, "host") == 0) {
    rank.WorkInShortKernels(steps, planted);
    return 0;
  }
  rank.Work(steps, planted && std::strcmp(what, "slow") == 0);
  if (hangs) rank.WaitWithoutEnd(planted);
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main(int count, char** arguments) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (count < 2) return 2;
  if (count > 2 && std::strcmp(arguments[1], "launch") == 0) {
    const char* ranks = arguments[2];
    arguments[2] = arguments[0];
    return utlz::fake::StartAll(ranks, arguments + 2);
  }
  return utlz::fake::RunRank(std::strtoull(arguments[1], nullptr, 10),
                             count > 3 ? arguments[2] : "", count > 3 ? arguments[3] : "");
}
