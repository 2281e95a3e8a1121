// Owner of one file descriptor.
#ifndef UTLZ_TOOLS_ATTACH_UNIQUE_FD_H_
#define UTLZ_TOOLS_ATTACH_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace utlz::attach {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  ~UniqueFd() { Reset(-1); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_UNIQUE_FD_H_
