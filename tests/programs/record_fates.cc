// Launches whose records come without times, late, counted as dropped by CUPTI, or never. The line
// before the expectation says how many of each: {"zero_time":…,"late":…,"dropped":…,"missing":…}.
// What is expected counts the normal and the late ones.
#include <cstdio>

#include "tests/fakes/simulated_gpu.h"
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

void LaunchWith(Target* target, RecordFate fate, uint64_t times) {
  FakeCudaSetRecordFate(fate);
  const bool arrives = fate == RecordFate::kNormal || fate == RecordFate::kLate;
  for (uint64_t i = 0; i < times; ++i) {
    Check(cuLaunchKernel(target->Function(1), 8, 4, 2, 128, 1, 1, 1024, nullptr, nullptr, nullptr),
          "cuLaunchKernel");
  }
  if (arrives) target->expectation.CountLaunches(target->Image(1), times);
  FakeCudaSetRecordFate(RecordFate::kNormal);
}

int Run() {
  Target target(CommonKernels());
  for (int i = 0; i < 10; ++i) {
    LaunchWith(&target, RecordFate::kNormal, 10);
    LaunchWith(&target, RecordFate::kZeroTime, 3);
    LaunchWith(&target, RecordFate::kLate, 4);
    LaunchWith(&target, RecordFate::kDropped, 2);
    LaunchWith(&target, RecordFate::kMissing, 1);
  }
  // Work goes on until the late records have come: a forced flush at the end would empty them.
  const uint64_t end_ns = NowNs() + 300'000'000;
  while (NowNs() < end_ns) {
    target.Launch(2);
    target.Synchronize();
  }
  std::puts("{\"zero_time\":30,\"late\":40,\"dropped\":20,\"missing\":10}");
  std::fflush(stdout);
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
