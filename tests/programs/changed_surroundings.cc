// Empties its environment, moves to another folder, and into another root where it may.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

int Run() {
  Target target(CommonKernels());
  target.Launch(0, 10);
  target.Synchronize();
  if (clearenv() != 0 || chdir("/") != 0) return 5;
  char root[] = "/tmp/utlz-changed-surroundings-XXXXXX";
  if (mkdtemp(root) == nullptr) return 6;
  const bool is_root = geteuid() == 0;
  if (is_root && chroot(root) != 0) return 7;
  target.Launch(1, 30);
  target.Synchronize();
  target.expectation.Print();
  if (!is_root) rmdir(root);
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
