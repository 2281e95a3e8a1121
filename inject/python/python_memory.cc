#include "inject/python/python_memory.h"

#include <sys/uio.h>
#include <unistd.h>

namespace utlz::agent {

bool CopyMemory(uint64_t address, void* to, uint64_t bytes) {
  if (bytes == 0) return true;
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace utlz::agent
