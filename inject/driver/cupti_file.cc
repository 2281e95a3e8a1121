#include "inject/driver/cupti_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace utlz::agent {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
#error "the machine type of this architecture is not known here"
#endif

// Without these nothing can be traced (cupti_api.cc).
constexpr const char* kNeeded[] = {
    "cuptiGetVersion",
    "cuptiGetTimestamp",
    "cuptiSubscribe",
    "cuptiUnsubscribe",
    "cuptiEnableCallback",
    "cuptiEnableDomain",
    "cuptiActivityRegisterCallbacks",
    "cuptiActivityEnable",
    "cuptiActivityDisable",
    "cuptiActivityFlushAll",
    "cuptiActivityGetNextRecord",
    "cuptiActivityGetNumDroppedRecords",
    "cuptiActivitySetAttribute",
};
constexpr size_t kNeededCount = sizeof kNeeded / sizeof *kNeeded;
static_assert(kNeededCount < 32);
constexpr uint32_t kAllNeeded = (1u << kNeededCount) - 1;

// CUPTI 12.6 was the first with these.
constexpr const char* kOf126[] = {"cuptiProfilerHostInitialize", "cuptiPmSamplingEnable",
                                  "cuptiRangeProfilerEnable"};

// A libcupti has some thousand symbols.
constexpr uint64_t kMostSymbols = 1 << 16;

class ElfFile {
 public:
  explicit ElfFile(const char* path) : file_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile() {
    if (file_ >= 0) close(file_);
  }

  // Finds the table of the symbols that the loader sees, and that of their names.
  bool FindSymbols();
  uint64_t symbol_count() const { return symbols_.sh_size / sizeof(ElfW(Sym)); }
  // The name of a symbol that is defined here. It may be cut off: nobody looks for names so long.
  template <size_t size>
  bool ReadName(uint64_t index, char (&name)[size]) const;

 private:
  size_t ReadUpTo(uint64_t offset, void* into, size_t bytes) const;
  template <typename Structure>
  bool Read(uint64_t offset, Structure* structure) const {
    return ReadUpTo(offset, structure, sizeof *structure) == sizeof *structure;
  }

  int file_;
  ElfW(Shdr) symbols_ = {};
  ElfW(Shdr) names_ = {};
};

size_t ElfFile::ReadUpTo(uint64_t offset, void* into, size_t bytes) const {
  if (offset > INT64_MAX - bytes) return 0;
  size_t done = 0;
  while (done < bytes) {
    const ssize_t size = pread(file_, static_cast<char*>(into) + done, bytes - done,
                               static_cast<off_t>(offset + done));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    done += static_cast<size_t>(size);
  }
  return done;
}

bool ElfFile::FindSymbols() {
  ElfW(Ehdr) head;
  if (file_ < 0 || !Read(0, &head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != kMachine || head.e_type != ET_DYN ||
      head.e_shentsize != sizeof(ElfW(Shdr))) {
    return false;
  }
  const auto read_section = [&](uint64_t index, ElfW(Shdr) * section) {
    return index < head.e_shnum && head.e_shoff < INT64_MAX / 2 &&
           Read(head.e_shoff + index * sizeof *section, section);
  };
  for (uint64_t i = 0; i < head.e_shnum; ++i) {
    if (!read_section(i, &symbols_)) return false;
    if (symbols_.sh_type != SHT_DYNSYM) continue;
    return symbols_.sh_entsize == sizeof(ElfW(Sym)) && symbol_count() <= kMostSymbols &&
           symbols_.sh_offset < INT64_MAX / 2 && read_section(symbols_.sh_link, &names_) &&
           names_.sh_type == SHT_STRTAB && names_.sh_offset < INT64_MAX / 2;
  }
  return false;
}

template <size_t size>
bool ElfFile::ReadName(uint64_t index, char (&name)[size]) const {
  ElfW(Sym) symbol;
  if (!Read(symbols_.sh_offset + index * sizeof symbol, &symbol) || symbol.st_shndx == SHN_UNDEF ||
      symbol.st_name >= names_.sh_size) {
    return false;
  }
  const size_t length = ReadUpTo(names_.sh_offset + symbol.st_name, name, size - 1);
  name[length] = 0;
  return true;
}

}  // namespace

CuptiLook LookAtCupti(const char* path) {
  ElfFile file(path);
  if (!file.FindSymbols()) return CuptiLook::kUnreadable;
  uint32_t found = 0;
  bool of_126 = false;
  for (uint64_t i = 0; i < file.symbol_count(); ++i) {
    char name[64];
    if (!file.ReadName(i, name)) continue;
    for (size_t needed = 0; needed < kNeededCount; ++needed) {
      if (strcmp(name, kNeeded[needed]) == 0) found |= 1u << needed;
    }
    for (const char* one : kOf126) of_126 = of_126 || strcmp(name, one) == 0;
  }
  if (found != kAllNeeded) return CuptiLook::kIncomplete;
  return of_126 ? CuptiLook::kUsable : CuptiLook::kTooOld;
}

}  // namespace utlz::agent
