// Work on three streams of each of two devices, from one thread a device.
#include <thread>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

void UseDevice(int device, Expectation* expectation) {
  Target target(CommonKernels(), device);
  CUstream streams[3] = {};
  for (int i = 0; i < 3; ++i) {
    Check(cuStreamCreateWithPriority(&streams[i], 0, -i), "cuStreamCreateWithPriority");
  }
  for (int i = 0; i < 30; ++i) {
    for (size_t kernel : {0, 1, 2}) {
      target.Launch(kernel, 1, streams[kernel]);
      expectation->CountLaunches(target.Image(kernel), 1);
    }
  }
  target.Synchronize();
}

int Run() {
  Expectation expectation;
  std::thread first(UseDevice, 0, &expectation);
  std::thread second(UseDevice, 1, &expectation);
  first.join();
  second.join();
  expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
