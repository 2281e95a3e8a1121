#include "tools/calibrate/cublas_lt.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "collector/sampler/driver/library_search.h"
#include "collector/sampler/driver/shared_library.h"

namespace utlz {
namespace {

constexpr const char* kWheelFolders[] = {"/lib/python3*/site-packages/nvidia/*/lib/",
                                         "/lib/python3*/dist-packages/nvidia/*/lib/",
                                         "/local/lib/python3*/dist-packages/nvidia/*/lib/"};
constexpr const char* kFixedFolders[] = {"/usr/local/cuda*/lib64/",
                                         "/usr/local/cuda*/targets/*/lib/",
                                         "/opt/cuda*/lib64/",
                                         "/opt/*/lib/python3*/site-packages/nvidia/*/lib/",
                                         "/usr/lib/*-linux-gnu/",
                                         "/usr/lib64/",
                                         "/usr/lib/"};

// Newest first, as far as names tell.
std::vector<std::string> Glob(const std::string& pattern) {
  glob_t matches{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches) == 0) {
    paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
  std::sort(paths.rbegin(), paths.rend());
  return paths;
}

bool Resolve(void* library, CublasLt* table) {
  return ResolveSymbol(library, "cublasLtCreate", &table->create) &&
         ResolveSymbol(library, "cublasLtDestroy", &table->destroy) &&
         ResolveSymbol(library, "cublasLtGetVersion", &table->get_version) &&
         ResolveSymbol(library, "cublasLtMatmulDescCreate", &table->matmul_create) &&
         ResolveSymbol(library, "cublasLtMatmulDescDestroy", &table->matmul_destroy) &&
         ResolveSymbol(library, "cublasLtMatmulDescSetAttribute", &table->matmul_set) &&
         ResolveSymbol(library, "cublasLtMatrixLayoutCreate", &table->layout_create) &&
         ResolveSymbol(library, "cublasLtMatrixLayoutDestroy", &table->layout_destroy) &&
         ResolveSymbol(library, "cublasLtMatmulPreferenceCreate", &table->preference_create) &&
         ResolveSymbol(library, "cublasLtMatmulPreferenceDestroy", &table->preference_destroy) &&
         ResolveSymbol(library, "cublasLtMatmulPreferenceSetAttribute", &table->preference_set) &&
         ResolveSymbol(library, "cublasLtMatmulAlgoGetHeuristic", &table->get_heuristic) &&
         ResolveSymbol(library, "cublasLtMatmul", &table->matmul);
}

// A launcher's link (a virtual environment's python3) and what it links to are
// two installations.
void AddPrefixOf(const std::string& executable, std::vector<std::string>* prefixes) {
  const size_t slash = executable.rfind("/bin/");
  if (slash != std::string::npos) prefixes->push_back(executable.substr(0, slash));
}

}  // namespace

std::vector<std::string> PythonPrefixes() {
  std::vector<std::string> prefixes;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* value = getenv(name);
    if (value != nullptr && *value == '/') prefixes.emplace_back(value);
  }
  const char* path = getenv("PATH");
  for (const auto& folder : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    const std::string python = absl::StrCat(folder, "/python3");
    if (python[0] != '/' || access(python.c_str(), X_OK) != 0) continue;
    AddPrefixOf(python, &prefixes);
    char resolved[PATH_MAX];
    if (realpath(python.c_str(), resolved) != nullptr) AddPrefixOf(resolved, &prefixes);
    break;
  }
  const char* home = getenv("HOME");
  if (home != nullptr && *home == '/') prefixes.push_back(absl::StrCat(home, "/.local"));
  return prefixes;
}

std::vector<std::string> CublasLtPaths(const CublasSearch& search) {
  if (!search.named_path.empty()) return {search.named_path};
  std::vector<std::string> patterns;
  for (const std::string& prefix : search.prefixes) {
    for (const char* folder : kWheelFolders) patterns.push_back(absl::StrCat(prefix, folder));
  }
  for (const char* folder : kFixedFolders) {
    patterns.push_back(absl::StrCat(search.root_directory, folder));
  }
  std::vector<std::string> paths;
  std::set<std::string> seen;
  for (const std::string& pattern : patterns) {
    for (const std::string& path : Glob(absl::StrCat(pattern, "libcublasLt.so.1[23]"))) {
      char resolved[PATH_MAX];
      if (realpath(path.c_str(), resolved) == nullptr || !seen.insert(resolved).second) continue;
      if (IsTrustedFile(resolved)) paths.push_back(resolved);
    }
  }
  return paths;
}

absl::StatusOr<CublasLt> LoadCublasLt(const CublasSearch& search) {
  std::vector<std::string> paths = CublasLtPaths(search);
  if (search.named_path.empty()) {
    paths.insert(paths.end(), {"libcublasLt.so.13", "libcublasLt.so.12"});
  }
  for (const std::string& path : paths) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    CublasLt table;
    if (library == nullptr || !Resolve(library, &table)) continue;
    table.path = path;
    return table;
  }
  return absl::NotFoundError(
      "no libcublasLt of CUDA 12 or 13 was found, so "
      "FLOP rates cannot be measured; run utlz "
      "calibrate inside the environment that has "
      "PyTorch, or name the library by --cublas-lt");
}

}  // namespace utlz
