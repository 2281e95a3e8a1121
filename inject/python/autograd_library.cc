#include "inject/python/autograd_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace utlz::agent {
namespace {

constexpr char kLibraryName[] = "libtorch_cpu.so";
constexpr uint32_t kMostPathBytes = 4096;
constexpr off_t kMostVersionFileBytes = 64 << 10;
// The nodes of these releases were looked at.
constexpr uint32_t kMajor = 2;
constexpr uint32_t kLastMinor = 11;

// The C library's list of a thread's blocks: pairs of words by the number of the module, and before
// them the list's length.
constexpr uint64_t kWordsOfBlock = 2;
constexpr uint64_t kNotAllocated = UINT64_MAX;

const uint64_t* BlocksOfThread() {
  const uint64_t* blocks = nullptr;
#if defined(__x86_64__)
  asm volatile("mov %%fs:8, %0" : "=r"(blocks));
#elif defined(__aarch64__)
  const uint64_t* thread = nullptr;
  asm volatile("mrs %0, tpidr_el0" : "=r"(thread));
  blocks = reinterpret_cast<const uint64_t*>(thread[0]);
#endif
  return blocks;
}

uint64_t BlockOfThread(uint64_t module) {
  const uint64_t* const blocks = BlocksOfThread();
  if (blocks == nullptr) return 0;  // on another processor
  const uint64_t length = blocks[-static_cast<int64_t>(kWordsOfBlock)];
  const uint64_t block = module <= length ? blocks[module * kWordsOfBlock] : 0;
  return block == kNotAllocated ? 0 : block;
}

struct Search {
  char path[kMostPathBytes];
  uint64_t tls_module = 0, tls_bytes = 0;
  // Modules of which the loader says where this thread's block is, and whether the list says so
  // too.
  uint32_t blocks_as_listed = 0, blocks_elsewhere = 0;
};

uint64_t TlsBytesOf(const dl_phdr_info& info) {
  for (uint32_t i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type == PT_TLS) return info.dlpi_phdr[i].p_memsz;
  }
  return 0;
}

int LookAt(dl_phdr_info* info, size_t size, void* data) {
  auto* search = static_cast<Search*>(data);
  if (size < offsetof(dl_phdr_info, dlpi_tls_data) + sizeof(info->dlpi_tls_data)) return 1;
  if (info->dlpi_tls_modid != 0 && info->dlpi_tls_data != nullptr) {
    const bool is_listed =
        BlockOfThread(info->dlpi_tls_modid) == reinterpret_cast<uint64_t>(info->dlpi_tls_data);
    ++(is_listed ? search->blocks_as_listed : search->blocks_elsewhere);
  }
  if (info->dlpi_name == nullptr) return 0;
  const char* const slash = strrchr(info->dlpi_name, '/');
  if (slash == nullptr || strcmp(slash + 1, kLibraryName) != 0) return 0;
  snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
  search->tls_module = info->dlpi_tls_modid;
  search->tls_bytes = TlsBytesOf(*info);
  return 0;
}

// PyTorch's packages have version.py in the folder above the library's. The target can put any file
// there: only a regular one of no great size is read.
bool ReadVersionFile(const char* library, char* text, uint32_t capacity) {
  char path[kMostPathBytes + 16];
  snprintf(path, sizeof(path), "%s", library);
  for (int level = 0; level < 2; ++level) {
    char* const slash = strrchr(path, '/');
    if (slash == nullptr) return false;
    *slash = 0;
  }
  const size_t used = strlen(path);
  snprintf(path + used, sizeof(path) - used, "/version.py");
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return false;
  struct stat status;
  ssize_t bytes = -1;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size <= kMostVersionFileBytes) {
    bytes = read(file, text, capacity - 1);
  }
  close(file);
  text[bytes > 0 ? bytes : 0] = 0;
  return bytes > 0;
}

template <typename Function>
bool LookUp(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool IsKnownRelease(const char* library) {
  char text[4096];
  uint32_t major = 0, minor = 0;
  return ReadVersionFile(library, text, sizeof(text)) && ReadTorchVersion(text, &major, &minor) &&
         major == kMajor && minor <= kLastMinor;
}

}  // namespace

bool ReadTorchVersion(const char* text, uint32_t* major, uint32_t* minor) {
  constexpr char kName[] = "__version__";
  for (const char* line = text; line != nullptr; line = strchr(line, '\n')) {
    if (*line == '\n') ++line;
    if (strncmp(line, kName, sizeof(kName) - 1) != 0) continue;
    const char* const first = line + strcspn(line, "'\"\n");
    return sscanf(first, "%*1['\"]%4u.%4u", major, minor) == 2;
  }
  return false;
}

const char* ThreadLocalBlock(const AutogradLibrary& library) {
  return reinterpret_cast<const char*>(BlockOfThread(library.tls_module));
}

NoBackward FindAutograd(AutogradLibrary* library) {
  Search search;
  search.path[0] = 0;
  dl_iterate_phdr(LookAt, &search);
  if (search.path[0] == 0) return NoBackward::kNoTorch;
  if (!IsKnownRelease(search.path)) return NoBackward::kOtherRelease;
  // A list that is not as expected somewhere is not to be relied on at all.
  if (search.tls_module == 0 || search.tls_bytes == 0 || search.blocks_as_listed == 0 ||
      search.blocks_elsewhere != 0) {
    return NoBackward::kOtherLayout;
  }
  void* const handle = dlopen(search.path, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return NoBackward::kNoTorch;
  AutogradLibrary found;
  found.tls_module = search.tls_module;
  found.tls_bytes = search.tls_bytes;
  const bool has_all =
      LookUp(handle, "_ZN2at15sequence_number4peekEv", &found.next_number) &&
      LookUp(handle, "_ZN2at14RecordFunction15currentThreadIdEv", &found.thread_number) &&
      LookUp(handle, "_ZN5torch8autograd16get_current_nodeEv", &found.current_node);
  if (!has_all) {
    dlclose(handle);
    return NoBackward::kOtherLayout;
  }
  *library = found;
  return NoBackward::kNone;
}

}  // namespace utlz::agent
