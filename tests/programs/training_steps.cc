// Steps of a GEMM, a reduction and an elementwise kernel with a pause between them, for as many
// seconds as the argument says: long enough to be sampled, and its counts are known. With `apart`
// as a second argument it waits after each of the three, so that a range holds one kernel only.
#include <cstdlib>
#include <ctime>

#include "tests/fakes/simulated_gpu.h"
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

int Run(double seconds, bool apart) {
  Target target(CommonKernels());
  const uint64_t end_ns = NowNs() + static_cast<uint64_t>(seconds * 1e9);
  while (NowNs() < end_ns) {
    target.Launch(0, 4);
    if (apart) target.Synchronize();
    target.Launch(1, 4);
    if (apart) target.Synchronize();
    target.Launch(2, 10);
    target.Synchronize();
  }
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main(int argc, char** argv) {
  return utlz::fake::Run(argc > 1 ? std::atof(argv[1]) : 3.0, argc > 2);
}
