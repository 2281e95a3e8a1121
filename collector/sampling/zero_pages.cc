#include "collector/sampling/zero_pages.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace utlz {
namespace {

struct Release {
  uintptr_t library = 0;  // its load address
  size_t page_bytes = 0;
  size_t released_bytes = 0;
};

bool IsZero(uintptr_t page, size_t page_bytes) {
  const std::span<const uint64_t> words(reinterpret_cast<const uint64_t*>(page),
                                        page_bytes / sizeof(uint64_t));
  return std::all_of(words.begin(), words.end(), [](uint64_t word) { return word == 0; });
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
    if (IsZero(page, release->page_bytes)) continue;
    ReleaseRun(run, page, release);
    run = page + release->page_bytes;
  }
  if (run < end) ReleaseRun(run, end, release);
}

int ReleaseOf(dl_phdr_info* info, size_t, void* data) {
  auto* release = static_cast<Release*>(data);
  if (info->dlpi_addr != release->library) return 0;
  const uintptr_t mask = ~static_cast<uintptr_t>(release->page_bytes - 1);
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
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
  Release release{.library = map->l_addr, .page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE))};
  dl_iterate_phdr(ReleaseOf, &release);
  return release.released_bytes;
}

}  // namespace utlz
