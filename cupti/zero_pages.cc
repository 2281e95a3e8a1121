#include "cupti/zero_pages.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

namespace utlz {
namespace {

// Pages that are looked at before those of them that go are let go.
constexpr size_t kPagesAtOnce = 64;

struct Release {
  uintptr_t library;  // its load address
  size_t page_bytes;
  size_t released_bytes;
};

// Not instrumented in sanitized tests: it reads pages whole, gaps between the library's variables
// included.
__attribute__((no_sanitize("address", "thread"))) bool IsZero(uintptr_t page, size_t page_bytes) {
  const auto* words = reinterpret_cast<const uint64_t*>(page);
  for (size_t i = 0; i < page_bytes / sizeof(uint64_t); ++i) {
    if (words[i] != 0) return false;
  }
  return true;
}

void ReleaseRun(uintptr_t begin, uintptr_t end, Release* release) {
  if (begin == end) return;
  if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) != 0) return;
  release->released_bytes += end - begin;
}

// Whole pages behind what comes from the file: what is dropped there is filled with zeros again.
void ReleaseIn(uintptr_t begin, uintptr_t end, Release* release) {
  uintptr_t run = begin;
  for (uintptr_t page = begin; page < end; page += release->page_bytes) {
    const bool zero = IsZero(page, release->page_bytes);
    if (zero && page - run < kPagesAtOnce * release->page_bytes) continue;
    ReleaseRun(run, page, release);
    run = zero ? page : page + release->page_bytes;
  }
  if (run < end) ReleaseRun(run, end, release);
}

int ReleaseOf(dl_phdr_info* info, size_t, void* data) {
  auto* release = static_cast<Release*>(data);
  if (info->dlpi_addr != release->library) return 0;
  const uintptr_t mask = ~static_cast<uintptr_t>(release->page_bytes - 1);
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    const uintptr_t begin = (start + segment.p_filesz + release->page_bytes - 1) & mask;
    const uintptr_t end = (start + segment.p_memsz) & mask;
    if (begin < end) ReleaseIn(begin, end, release);
  }
  return 1;
}

}  // namespace

size_t ReleaseZeroPages(void* library) {
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return 0;
  Release release = {map->l_addr, static_cast<size_t>(sysconf(_SC_PAGESIZE)), 0};
  dl_iterate_phdr(ReleaseOf, &release);
  return release.released_bytes;
}

void* OpenWithoutZeroPages(const char* path, int flags) {
  void* known = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  void* library = dlopen(path, flags);
  if (known != nullptr) {
    dlclose(known);
  } else {
    ReleaseZeroPages(library);
  }
  return library;
}

}  // namespace utlz
