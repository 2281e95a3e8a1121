// All that the attach loader reads from a process that it does not trust: its memory map, the
// shared object that claims to be the C library, its stack, and what /proc says about a thread.
#include <algorithm>
#include <cstdint>
#include <string>

#include "tools/attach/c_library.h"
#include "tools/attach/stack_scan.h"
#include "tools/attach/target/elf_image.h"
#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/proc_file.h"
#include "tools/attach/thread_choice.h"

namespace {

constexpr uint64_t kBase = 0x10000;

class InputMemory final : public utlz::attach::MemoryReader {
 public:
  InputMemory(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  size_t ReadSome(uint64_t address, absl::Span<uint8_t> bytes) const override {
    const uint64_t offset = address - kBase;
    if (offset >= size_) return 0;
    const size_t count = std::min<size_t>(bytes.size(), size_ - offset);
    std::copy_n(data_ + offset, count, bytes.begin());
    return count;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace utlz::attach;
  const InputMemory memory(data, size);
  const std::string text(reinterpret_cast<const char*>(data), size);

  const auto image = ElfImage::Read(memory, kBase);
  CLibrary library;
  if (image.ok()) {
    library.allocator_code = AllocatorRanges(*image);
    static_cast<void>(image->FindFunction("dlopen"));
    static_cast<void>(image->HighestGlibcMinorVersion());
  }
  const MemoryMap map = MemoryMap::Parse(text);
  static_cast<void>(FindCLibrary(map, memory));
  static_cast<void>(ParseBlockedCall(text));
  static_cast<void>(StatusField(text, "TracerPid"));

  const MemoryMap own = MemoryMap::Parse(
      "10000-11000 rwxp 0 08:01 1 /lib/ld-linux-x86-64.so.2\n10000-11000 rw-p 0 00:00 0 [stack]\n");
  library.loader_code = {{kBase, kBase + 0x1000}};
  static_cast<void>(ScanStack(memory, own, library, kBase));
  return 0;
}
