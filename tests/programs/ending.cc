// Ends in the way that its argument names, with everything it launched already done or, for
// `sigkill`, in the middle of the work after the seconds of the second argument.
#include <csignal>
#include <cstdlib>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "tests/fakes/simulated_gpu.h"
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

void Work(Target* target) {
  for (int i = 0; i < 20; ++i) {
    target->Launch(0, 2);
    target->Launch(1, 3);
    target->Launch(2, 5);
  }
  CUdeviceptr memory = 0;
  std::vector<char> host(1 << 20);
  Check(cuMemAlloc_v2(&memory, host.size()), "cuMemAlloc");
  Check(cuMemcpyHtoD_v2(memory, host.data(), host.size()), "cuMemcpyHtoD");
  target->expectation.CountCopy(host.size());
  Check(cuMemcpyDtoH_v2(host.data(), memory, host.size()), "cuMemcpyDtoH");
  target->expectation.CountCopy(host.size());
  target->Synchronize();
}

[[noreturn]] void WorkUntilKilled(Target* target, double seconds) {
  const uint64_t end_ns = NowNs() + static_cast<uint64_t>(seconds * 1e9);
  while (NowNs() < end_ns) {
    target->Launch(2, 10);
    target->Synchronize();
  }
  target->expectation.Print();
  raise(SIGKILL);
  std::abort();
}

// As the kernel shows them.
void PrintCaughtSignals() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, 6, "SigCgt") == 0) std::printf("%s\n", line.c_str());
  }
  std::fflush(stdout);
}

int End(const std::string& way) {
  if (way == "return") return 0;
  if (way == "status") return 42;
  if (way == "exit") std::exit(7);
  if (way == "_exit") _exit(9);
  if (way == "quick_exit") std::quick_exit(11);
  if (way == "exception") throw std::runtime_error("an exception that nobody catches");
  if (way == "abort") std::abort();
  if (way == "segfault") raise(SIGSEGV);
  if (way == "caught_signals") PrintCaughtSignals();
  if (way == "sigterm") raise(SIGTERM);
  if (way == "sigint") raise(SIGINT);
  return 2;
}

int Run(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "return";
  Target target(CommonKernels());
  if (way == "sigkill") WorkUntilKilled(&target, argc > 2 ? std::atof(argv[2]) : 2.2);
  Work(&target);
  target.expectation.Print();
  return End(way);
}

}  // namespace
}  // namespace utlz::fake

int main(int argc, char** argv) { return utlz::fake::Run(argc, argv); }
