// A chain of processes, each of which uses CUDA and then starts the next: argument 1 is how many
// are left, argument 2 how: `exec` replaces itself, `fork` forks and executes, `spawn`
// posix_spawns.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tests/programs/target.h"

extern char** environ;

namespace utlz::fake {
namespace {

int WaitFor(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 5;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 6;
}

int StartNext(char** argv, const std::string& left, const std::string& way) {
  char* const next[] = {argv[0], const_cast<char*>(left.c_str()), const_cast<char*>(way.c_str()),
                        nullptr};
  pid_t child = 0;
  if (way == "spawn") {
    if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, next, environ) != 0) return 7;
    return WaitFor(child);
  }
  if (way == "fork") child = fork();
  if (child != 0) return WaitFor(child);
  execv("/proc/self/exe", next);
  _exit(8);
}

int Run(int argc, char** argv) {
  const int left = argc > 1 ? std::atoi(argv[1]) : 3;
  const std::string way = argc > 2 ? argv[2] : "fork";
  Target target(CommonKernels());
  target.Launch(1, 10 + static_cast<uint64_t>(left));
  target.Synchronize();
  target.expectation.Print();
  return left == 0 ? 0 : StartNext(argv, std::to_string(left - 1), way);
}

}  // namespace
}  // namespace utlz::fake

int main(int argc, char** argv) { return utlz::fake::Run(argc, argv); }
