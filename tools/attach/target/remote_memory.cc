#include "tools/attach/target/remote_memory.h"

#include <sys/uio.h>

namespace utlz::attach {
namespace {

// process_vm_readv takes remote addresses as pointers.
void* RemotePointer(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

std::string MemoryReader::ReadText(uint64_t address, size_t max_bytes) const {
  std::string text(max_bytes, '\0');
  const size_t count =
      ReadSome(address, absl::MakeSpan(reinterpret_cast<uint8_t*>(text.data()), text.size()));
  text.resize(count);
  return text.substr(0, text.find('\0'));
}

size_t RemoteMemory::ReadSome(uint64_t address, absl::Span<uint8_t> bytes) const {
  size_t done = 0;
  while (done < bytes.size()) {
    iovec local = {bytes.data() + done, bytes.size() - done};
    iovec remote = {RemotePointer(address + done), bytes.size() - done};
    const ssize_t count = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

bool RemoteMemory::Write(uint64_t address, absl::Span<const uint8_t> bytes) const {
  iovec local = {const_cast<uint8_t*>(bytes.data()), bytes.size()};
  iovec remote = {RemotePointer(address), bytes.size()};
  return process_vm_writev(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes.size());
}

}  // namespace utlz::attach
