#include "cupti/file_pages.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace utlz {
namespace {

struct Search {
  const char* name;
  bool found;
  bool release;
  size_t released_bytes;
};

bool IsNamed(const char* path, const char* name) {
  const char* slash = strrchr(path, '/');
  return strncmp(slash == nullptr ? path : slash + 1, name, strlen(name)) == 0;
}

// Relocations in code: its pages are no longer those of the file.
bool HasWrittenCode(const dl_phdr_info& info) {
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_TEXTREL) return true;
      if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0) return true;
    }
  }
  return false;
}

size_t ReleaseSegment(uintptr_t start, size_t bytes) {
  const uintptr_t mask = ~(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
  const uintptr_t begin = start & mask;
  const uintptr_t end = (start + bytes) & mask;
  if (begin >= end) return 0;
  const bool released = madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) == 0;
  return released ? end - begin : 0;
}

int Visit(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  if (info->dlpi_name == nullptr || !IsNamed(info->dlpi_name, search->name)) return 0;
  search->found = true;
  if (!search->release || HasWrittenCode(*info)) return 1;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    search->released_bytes += ReleaseSegment(info->dlpi_addr + segment.p_vaddr, segment.p_filesz);
  }
  return 1;
}

}  // namespace

bool IsLoaded(const char* name) {
  Search search = {name, false, false, 0};
  dl_iterate_phdr(Visit, &search);
  return search.found;
}

size_t ReleaseFilePages(const char* name) {
  Search search = {name, false, true, 0};
  dl_iterate_phdr(Visit, &search);
  return search.released_bytes;
}

}  // namespace utlz
