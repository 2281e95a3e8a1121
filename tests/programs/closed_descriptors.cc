// Closes every descriptor above standard error, as daemons do, and uses the numbers again for its
// own files: nobody else may write to them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr int kFiles = 64;

int Run() {
  Target target(CommonKernels());
  target.Launch(0, 20);
  target.Synchronize();
  for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);

  std::vector<int> files;
  for (int i = 0; i < kFiles; ++i) {
    char path[] = "/tmp/utlz-closed-descriptors-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) return 5;
    unlink(path);
    files.push_back(file);
  }
  for (int i = 0; i < 50; ++i) {
    target.Launch(1, 10);
    target.Synchronize();
  }
  for (int file : files) {
    struct stat status;
    if (fstat(file, &status) != 0 || status.st_size != 0 || lseek(file, 0, SEEK_CUR) != 0) {
      std::fprintf(stderr, "descriptor %d was closed or written by somebody else\n", file);
      return 6;
    }
  }
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
