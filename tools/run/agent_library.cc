#include "tools/run/agent_library.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr char kLibraryName[] = "libutlz_inject.so";

}  // namespace

absl::StatusOr<std::string> ExecutableFolder() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot find out where utlz lies: ", error.message(), " (/proc/self/exe)"));
  }
  return path.parent_path().string();
}

absl::StatusOr<std::string> FindAgentLibrary(const std::string& executable_folder) {
  const std::filesystem::path prefix = std::filesystem::path(executable_folder).parent_path();
  std::string tried;
  for (const char* folder : {"lib", "lib/utlz", "lib/" UTLZ_LIBRARY_ARCHITECTURE,
                             "lib/" UTLZ_LIBRARY_ARCHITECTURE "/utlz"}) {
    const std::string path = (prefix / folder / kLibraryName).string();
    if (access(path.c_str(), R_OK) == 0) return path;
    absl::StrAppend(&tried, tried.empty() ? "" : ", ", path);
  }
  return absl::NotFoundError(
      absl::StrCat("the agent ", kLibraryName, " is missing, reinstall utlz; looked for ", tried));
}

}  // namespace utlz
