// Work whose collector is stopped or killed in the middle of it. Arguments: the collector's
// process, what befalls it, and then:
//   stopped   the collector stands still from before the work until this process has ended
//   killed    it is killed before the work
// `overflow` as a third argument makes the kernels' names too much for the ring.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr size_t kKernels = 4000;
constexpr size_t kLongNameBytes = 4000;  // × kKernels: twice the ring, of which a few buffers fit
constexpr int kRounds = 8;

// A process of its own that continues `collector` once this process is gone.
void ContinueAtOurEnd(pid_t collector) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::_Exit(4);
  const pid_t child = fork();
  if (child < 0) std::_Exit(4);
  if (child > 0) {
    close(ends[0]);  // ours to write stays open until we end, however that is
    return;
  }
  close(ends[1]);
  char byte = 0;
  while (read(ends[0], &byte, 1) > 0) {
  }
  kill(collector, SIGCONT);
  std::_Exit(0);
}

std::vector<std::string> Names(bool long_ones) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kKernels; ++i) {
    names.push_back("kernel_" + std::to_string(i) + "_");
    if (long_ones) names.back().resize(kLongNameBytes, 'x');
  }
  return names;
}

int Run(pid_t collector, const std::string& fate, bool overflow) {
  if (fate == "stopped") ContinueAtOurEnd(collector);
  // Never destroyed: records that are handed over at exit point to the names.
  const auto& names = *new std::vector<std::string>(Names(overflow));
  std::vector<KernelImage> kernels;
  for (const std::string& name : names) {
    kernels.push_back({.name = name.c_str(), .duration_ns = 1000});
  }
  Target target(kernels);
  if (kill(collector, fate == "stopped" ? SIGSTOP : SIGKILL) != 0) std::_Exit(4);
  for (int round = 0; round < kRounds; ++round) {
    for (size_t kernel = 0; kernel < kKernels; ++kernel) target.Launch(kernel);
    target.Synchronize();
  }
  target.expectation.Print();
  return 42;
}

}  // namespace
}  // namespace utlz::fake

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return utlz::fake::Run(std::atoi(argv[1]), argv[2], argc > 3);
}
