// A thousand contexts, one after another, each with a stream and some work, then destroyed.
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr int kContexts = 1000;

int Run() {
  Target target(CommonKernels());
  for (int i = 0; i < kContexts; ++i) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    Check(cuCtxCreate_v2(&context, 0, 0), "cuCtxCreate");
    Check(cuStreamCreate(&stream, 0), "cuStreamCreate");
    target.Launch(2, 3, stream);
    Check(cuStreamDestroy_v2(stream), "cuStreamDestroy");
    Check(cuCtxDestroy_v2(context), "cuCtxDestroy");
  }
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
