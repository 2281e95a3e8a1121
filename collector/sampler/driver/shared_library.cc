#include "collector/sampler/driver/shared_library.h"

#include <string>

#include "collector/sampler/driver/library_search.h"

namespace utlz {
namespace {

constexpr const char* kDriverFolders[] = {
    "/usr/local/nvidia/lib64/",                   // containers
    "/usr/lib/x86_64-linux-gnu/nvidia/current/",  // Debian alternatives
    "/usr/lib/aarch64-linux-gnu/nvidia/current/",
    "/usr/lib/wsl/lib/",
    "/run/opengl-driver/lib/",  // NixOS
};

}  // namespace

void* OpenDriverLibrary(const char* name) {
  if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  for (const char* folder : kDriverFolders) {
    const std::string path = std::string(folder) + name;
    if (!IsTrustedFile(path)) continue;
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

}  // namespace utlz
