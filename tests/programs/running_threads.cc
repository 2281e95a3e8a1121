// Returns from main while threads are still launching: the profile may miss only what they launch
// after the program's end began.
#include <atomic>
#include <thread>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

int Run() {
  static Target* const target = new Target(CommonKernels());
  static std::atomic<int> busy{0};
  for (int i = 0; i < 4; ++i) {
    std::thread([] {
      Check(cuCtxSetCurrent(target->context()), "cuCtxSetCurrent");
      CUstream stream = nullptr;
      Check(cuStreamCreate(&stream, 0), "cuStreamCreate");
      bool announced = false;
      while (true) {
        target->Launch(2, 10, stream);
        Check(cuStreamSynchronize(stream), "cuStreamSynchronize");
        if (!announced) busy.fetch_add(1);
        announced = true;
      }
    }).detach();
  }
  while (busy.load() < 4) std::this_thread::yield();
  target->Launch(0, 25);
  target->Synchronize();
  target->expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
