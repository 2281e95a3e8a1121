#include "inject/tracing/import_slot.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "inject/base/page_protection.h"

namespace utlz::agent {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr uint32_t kGlobalData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT;
constexpr uint32_t kGlobalData = R_AARCH64_GLOB_DAT;
#else
#error "relocation types of this architecture are not known here"
#endif

struct Module {
  uintptr_t address;
  uintptr_t base = 0;
  const ElfW(Dyn) * dynamic = nullptr;
};

int MatchModule(dl_phdr_info* info, size_t, void* data) {
  auto* module = static_cast<Module*>(data);
  bool inside = false;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      inside |= module->address >= begin && module->address < begin + header.p_memsz;
    } else if (header.p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    }
  }
  if (!inside) return 0;
  module->base = info->dlpi_addr;
  module->dynamic = dynamic;
  return 1;
}

struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * jump = nullptr;
  size_t jump_bytes = 0;
  const ElfW(Rela) * rela = nullptr;
  size_t rela_bytes = 0;
};

// glibc has relocated these pointers already.
Tables ReadTables(const ElfW(Dyn) * dynamic) {
  Tables tables;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto value = dynamic->d_un.d_ptr;
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(value);
        break;
      case DT_STRTAB:
        tables.names = reinterpret_cast<const char*>(value);
        break;
      case DT_JMPREL:
        tables.jump = reinterpret_cast<const ElfW(Rela)*>(value);
        break;
      case DT_PLTRELSZ:
        tables.jump_bytes = dynamic->d_un.d_val;
        break;
      case DT_RELA:
        tables.rela = reinterpret_cast<const ElfW(Rela)*>(value);
        break;
      case DT_RELASZ:
        tables.rela_bytes = dynamic->d_un.d_val;
        break;
      default:
        break;
    }
  }
  return tables;
}

const ElfW(Rela) * FindRelocation(const Tables& tables, const ElfW(Rela) * entries, size_t bytes,
                                  const char* name) {
  for (size_t i = 0; entries != nullptr && i < bytes / sizeof *entries; ++i) {
    const auto type = static_cast<uint32_t>(ELF64_R_TYPE(entries[i].r_info));
    if (type != kJumpSlot && type != kGlobalData) continue;
    const auto& symbol = tables.symbols[ELF64_R_SYM(entries[i].r_info)];
    if (strcmp(tables.names + symbol.st_name, name) == 0) return &entries[i];
  }
  return nullptr;
}

bool Needs(const ElfW(Dyn) * dynamic, const char* library) {
  const char* const names = ReadTables(dynamic).names;
  for (; names != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_NEEDED &&
        strncmp(names + dynamic->d_un.d_val, library, strlen(library)) == 0) {
      return true;
    }
  }
  return false;
}

struct Dependents {
  const char* library;
  uintptr_t* addresses;
  uint32_t most;
  uint32_t count = 0;
};

int AddDependent(dl_phdr_info* info, size_t, void* data) {
  auto* found = static_cast<Dependents*>(data);
  uintptr_t code = 0;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) code = begin;
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
  }
  if (code == 0 || dynamic == nullptr || !Needs(dynamic, found->library)) return 0;
  found->addresses[found->count++] = code;
  return found->count == found->most ? 1 : 0;
}

int CountLoaded(dl_phdr_info* info, size_t, void* count) {
  *static_cast<uint64_t*>(count) = info->dlpi_adds;
  return 1;
}

// The module's writable memory, less what the loader made read-only.
struct Replacement {
  uintptr_t address;
  void* function;
  void* replacement;
  uint32_t count = 0;
};

// Not instrumented in sanitized tests: it reads a module's memory whole, gaps between its variables
// included.
__attribute__((no_sanitize("address", "thread"))) void ReplaceBetween(uintptr_t begin,
                                                                      uintptr_t end,
                                                                      Replacement* job) {
  constexpr uintptr_t kMostBytes = 64 << 20;
  if (end > begin + kMostBytes) end = begin + kMostBytes;
  for (uintptr_t at = (begin + 7) & ~uintptr_t{7}; at + 8 <= end; at += 8) {
    auto* const word = reinterpret_cast<void**>(at);
    if (__atomic_load_n(word, __ATOMIC_RELAXED) != job->function) continue;
    __atomic_store_n(word, job->replacement, __ATOMIC_RELEASE);
    ++job->count;
  }
}

int ReplaceInModule(dl_phdr_info* info, size_t, void* data) {
  auto* job = static_cast<Replacement*>(data);
  Module module{job->address};
  if (MatchModule(info, 0, &module) == 0) return 0;
  uintptr_t relro_end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_GNU_RELRO) continue;
    relro_end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    const uintptr_t end = begin + header.p_memsz;
    // Read-only pages come first in the segment that they are part of.
    ReplaceBetween(relro_end > begin && relro_end <= end ? relro_end : begin, end, job);
  }
  return 1;
}

}  // namespace

uint32_t FindDependents(const char* library, uintptr_t* addresses, uint32_t most) {
  Dependents found{library, addresses, most};
  if (most > 0) dl_iterate_phdr(AddDependent, &found);
  return found.count;
}

uint64_t ModulesEverLoaded() {
  uint64_t count = 0;
  dl_iterate_phdr(CountLoaded, &count);
  return count;
}

uint32_t ReplaceStoredPointers(uintptr_t code_address, void* function, void* replacement) {
  Replacement job{code_address, function, replacement};
  dl_iterate_phdr(ReplaceInModule, &job);
  return job.count;
}

void** FindImportSlot(uintptr_t code_address, const char* name) {
  Module module{code_address};
  if (dl_iterate_phdr(MatchModule, &module) == 0 || module.dynamic == nullptr) return nullptr;
  const Tables tables = ReadTables(module.dynamic);
  if (tables.symbols == nullptr || tables.names == nullptr) return nullptr;
  const ElfW(Rela)* entry = FindRelocation(tables, tables.jump, tables.jump_bytes, name);
  if (entry == nullptr) entry = FindRelocation(tables, tables.rela, tables.rela_bytes, name);
  return entry == nullptr ? nullptr : reinterpret_cast<void**>(module.base + entry->r_offset);
}

bool SetImportSlot(void** slot, void* function) {
  if (std::atomic_ref<void*>(*slot).load() == function) return true;
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t page = reinterpret_cast<uintptr_t>(slot) & ~(page_bytes - 1);
  int protection = 0;
  if (!ReadProtection(page, &protection)) return false;
  auto* const memory = reinterpret_cast<void*>(page);
  // Also where it is writable now: the loader may be about to make it read-only.
  if (mprotect(memory, page_bytes, protection | PROT_WRITE) != 0) return false;
  std::atomic_ref<void*>(*slot).store(function, std::memory_order_release);
  if ((protection & PROT_WRITE) == 0) mprotect(memory, page_bytes, protection);
  return true;
}

}  // namespace utlz::agent
