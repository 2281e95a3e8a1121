// Forks without exec. Argument: what the child does.
//   exit        leaves through exit(), running every handler it inherited
//   _exit       leaves at once
//   cuda        calls CUDA, which the driver refuses, and leaves
//   before      the parent never used CUDA before the fork; both then do
//   many        forks 50 children that allocate, print nothing and leave through exit()
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

void WaitFor(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) std::_Exit(5);
}

[[noreturn]] void BeChild(const std::string& way) {
  if (way == "_exit") _exit(0);
  if (way == "cuda") {
    CUcontext context = nullptr;
    if (cuInit(0) != CUDA_ERROR_NOT_INITIALIZED) _exit(6);
    if (cuCtxCreate_v2(&context, 0, 0) != CUDA_ERROR_NOT_INITIALIZED) _exit(6);
  }
  std::vector<char> memory(1 << 20, 'x');
  std::exit(memory[12345] == 'x' ? 0 : 8);
}

int RunBefore() {
  const pid_t child = fork();
  Target target(CommonKernels());
  target.Launch(2, child == 0 ? 30 : 50);
  target.Synchronize();
  target.expectation.Print();
  if (child != 0) WaitFor(child);
  return 0;
}

int Run(const std::string& way) {
  if (way == "before") return RunBefore();
  Target target(CommonKernels());
  target.Launch(0, 10);
  const int children = way == "many" ? 50 : 1;
  for (int i = 0; i < children; ++i) {
    const pid_t child = fork();
    if (child == 0) BeChild(way);
    target.Launch(1, 5);
    WaitFor(child);
  }
  target.Launch(0, 10);
  target.Synchronize();
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main(int argc, char** argv) { return utlz::fake::Run(argc > 1 ? argv[1] : "exit"); }
