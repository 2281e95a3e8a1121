#include "inject/driver/cupti_search.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "proto/ring_abi.h"

namespace utlz::agent {
namespace {

// Newest first; the process's driver decides which a framework brings.
constexpr const char* kSonames[] = {"libcupti.so.13", "libcupti.so.12"};

void* OpenIn(const char* folder, const char* below) {
  char path[1024];
  for (const char* soname : kSonames) {
    if (snprintf(path, sizeof path, "%s%s/%s", folder, below, soname) >=
        static_cast<int>(sizeof path)) {
      continue;
    }
    if (void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void* OpenInSitePackages(const char* folder) {
  for (const char* below : {"/nvidia/cu13/lib", "/nvidia/cuda_cupti/lib"}) {
    if (void* library = OpenIn(folder, below)) return library;
  }
  return nullptr;
}

// The site-packages folder that some mapped library comes from: where the target's framework lives.
int FindSitePackages(dl_phdr_info* info, size_t, void* result) {
  constexpr char kFolder[] = "/site-packages/";
  const char* place = info->dlpi_name == nullptr ? nullptr : strstr(info->dlpi_name, kFolder);
  const size_t length =
      place == nullptr ? 0 : static_cast<size_t>(place - info->dlpi_name) + sizeof kFolder - 2;
  if (length == 0 || length >= 512) return 0;
  memcpy(result, info->dlpi_name, length);
  static_cast<char*>(result)[length] = 0;
  return 1;
}

void* WheelCupti() {
  char folder[512] = "";
  dl_iterate_phdr(FindSitePackages, folder);
  return folder[0] == 0 ? nullptr : OpenInSitePackages(folder);
}

void* ToolkitCupti() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* home = getenv(variable);
    if (home == nullptr) continue;
    for (const char* below : {"/lib64", "/extras/CUPTI/lib64"}) {
      if (void* library = OpenIn(home, below)) return library;
    }
  }
  for (const char* below :
       {"/lib64", "/extras/CUPTI/lib64", "/targets/x86_64-linux/lib", "/targets/sbsa-linux/lib"}) {
    if (void* library = OpenIn("/usr/local/cuda", below)) return library;
  }
  for (const char* soname : kSonames) {
    if (void* library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void* ShippedCupti() {
  const char* path = getenv(kCuptiVariable);
  return path == nullptr ? nullptr : dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

bool IsSameFile(int descriptor, const char* path) {
  struct stat one, other;
  return fstat(descriptor, &one) == 0 && stat(path, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

struct OtherCopy {
  uintptr_t library;  // the load address of the copy in use
  char* path;
};

int MatchOtherCopy(dl_phdr_info* info, size_t, void* data) {
  constexpr char kPrefix[] = "libcupti";
  const auto* other = static_cast<OtherCopy*>(data);
  if (info->dlpi_name == nullptr || info->dlpi_addr == other->library) return 0;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash == nullptr ? info->dlpi_name : slash + 1;
  if (strncmp(name, kPrefix, sizeof kPrefix - 1) != 0) return 0;
  snprintf(other->path, kMaxCuptiPathBytes, "%s", info->dlpi_name);
  return 1;
}

}  // namespace

void* LoadedCupti() {
  for (const char* soname : kSonames) {
    if (void* library = dlopen(soname, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void* OpenFoundCupti() {
  for (void* (*source)() : {WheelCupti, ToolkitCupti, ShippedCupti}) {
    if (void* library = source()) return library;
  }
  return nullptr;
}

void FindFile(int descriptor, CuptiFile* file) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, file->shown, sizeof file->shown - 1);
  file->shown[length < 0 ? 0 : length] = 0;
  if (IsSameFile(descriptor, file->shown)) {
    memcpy(file->path, file->shown, sizeof file->path);
  } else {
    snprintf(file->path, sizeof file->path, "/proc/self/fd/../fd/%d", descriptor);
  }
}

bool FindOtherCupti(void* library, char (*path)[kMaxCuptiPathBytes]) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return false;
  OtherCopy other{map->l_addr, *path};
  return dl_iterate_phdr(MatchOtherCopy, &other) != 0;
}

}  // namespace utlz::agent
