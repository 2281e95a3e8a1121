#include "inject/base/page_protection.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>

namespace utlz::agent {
namespace {

// How much of a line of /proc/PID/maps is read: addresses and protection come first.
constexpr size_t kLineBytes = 64;

int ProtectionBits(const char* letters) {
  return (letters[0] == 'r' ? PROT_READ : 0) | (letters[1] == 'w' ? PROT_WRITE : 0) |
         (letters[2] == 'x' ? PROT_EXEC : 0);
}

bool LineHas(const char* line, uintptr_t address, int* protection) {
  uint64_t begin = 0, end = 0;
  char letters[5] = "";
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4c", &begin, &end, letters) != 3) return false;
  if (address < begin || address >= end) return false;
  *protection = ProtectionBits(letters);
  return true;
}

bool FindLine(int maps, uintptr_t address, int* protection) {
  char line[kLineBytes] = "";
  size_t length = 0;
  for (char bytes[4096];;) {
    const ssize_t size = read(maps, bytes, sizeof bytes);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    for (ssize_t i = 0; i < size; ++i) {
      if (bytes[i] != '\n') {
        if (length < kLineBytes - 1) line[length++] = bytes[i];
        continue;
      }
      line[length] = 0;
      length = 0;
      if (LineHas(line, address, protection)) return true;
    }
  }
}

}  // namespace

bool ReadProtection(uintptr_t address, int* protection) {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return false;
  const bool found = FindLine(maps, address, protection);
  close(maps);
  return found;
}

}  // namespace utlz::agent
