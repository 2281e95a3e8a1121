// A descriptor of the agent's in a process whose code may close it and use its number again: known
// by device and inode, it is touched only while it still is what it was.
#ifndef UTLZ_INJECT_BASE_OWN_DESCRIPTOR_H_
#define UTLZ_INJECT_BASE_OWN_DESCRIPTOR_H_

#include <cstdint>

namespace utlz::agent {

class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  // Takes a descriptor over, under a number high enough to leave the program's own numbering alone.
  static OwnDescriptor Adopt(int number);
  // One that is high already; `device` and `inode` as its maker saw them.
  OwnDescriptor(int number, uint64_t device, uint64_t inode)
      : number_(number), device_(device), inode_(inode) {}

  // The number, or -1 where there is none any more.
  int Get() const;
  void Close();

 private:
  int number_ = -1;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_OWN_DESCRIPTOR_H_
