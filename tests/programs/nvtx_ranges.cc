// NVTX ranges nested three deep, in two domains, on two threads, with marks and a start-end range
// across threads. The line before the expectation says how often each range ran:
// {"ranges":{"step":…}}.
#include <cstdio>
#include <thread>

#include "tests/programs/nvtx_client.h"
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr int kSteps = 10;

void Train(Target* target) {
  const NvtxDomain domain = NvtxCreateDomain("optimizer");
  for (int step = 0; step < kSteps; ++step) {
    NvtxPush("step");
    NvtxPush("forward");
    NvtxPush("attention");
    target->Launch(0, 2);
    NvtxPop();
    target->Launch(1, 1);
    NvtxPop();
    NvtxDomainPush(domain, "update");
    target->Launch(2, 3);
    NvtxDomainPop(domain);
    target->Synchronize();
    NvtxPop();
    NvtxMark("step done");
  }
}

void Load() {
  for (int batch = 0; batch < 2 * kSteps; ++batch) {
    NvtxPush("load batch");
    NvtxPop();
  }
}

int Run() {
  Target target(CommonKernels());
  const uint64_t epoch = NvtxStart("epoch");
  std::thread loader(Load);
  Train(&target);
  loader.join();
  std::thread([epoch] { NvtxEnd(epoch); }).join();
  std::puts(
      "{\"ranges\":{\"step\":10,\"forward\":10,\"attention\":10,\"update\":10,"
      "\"load batch\":20,\"epoch\":1}}");
  std::fflush(stdout);
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
