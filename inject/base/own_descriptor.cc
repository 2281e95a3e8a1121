#include "inject/base/own_descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace utlz::agent {
namespace {

constexpr int kLowestNumber = 128;

}  // namespace

OwnDescriptor OwnDescriptor::Adopt(int number) {
  if (number < 0) return {};
  const int high = fcntl(number, F_DUPFD_CLOEXEC, kLowestNumber);
  if (high >= 0) close(number);
  const int kept = high >= 0 ? high : number;
  struct stat status;
  if (fstat(kept, &status) != 0) return {};
  return {kept, status.st_dev, status.st_ino};
}

int OwnDescriptor::Get() const {
  struct stat status;
  if (number_ < 0 || fstat(number_, &status) != 0) return -1;
  return status.st_dev == device_ && status.st_ino == inode_ ? number_ : -1;
}

void OwnDescriptor::Close() {
  const int number = Get();
  number_ = -1;
  if (number >= 0) close(number);
}

}  // namespace utlz::agent
