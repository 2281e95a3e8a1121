#include "collector/sampler/driver/system_files.h"

#include <dirent.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr size_t kMostBytes = 64 << 10;

// The value after "key:" at the start of a line.
std::optional<std::string> ValueOf(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(key + ":", 0) == 0) {
      return std::string(absl::StripAsciiWhitespace(line.substr(key.size() + 1)));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ReadSystemText(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

bool HasCapability(const std::string& root, int number) {
  const std::optional<std::string> status = ReadSystemText(root + "/proc/self/status");
  const std::optional<std::string> effective =
      status.has_value() ? ValueOf(*status, "CapEff") : std::nullopt;
  uint64_t capabilities = 0;
  if (!effective.has_value() || !absl::SimpleHexAtoi(*effective, &capabilities)) return false;
  return (capabilities >> number & 1) != 0;
}

std::vector<std::string> RunningPrograms(const std::string& root,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir((root + "/proc").c_str()), closedir);
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder.get())) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry->d_name, &pid)) continue;
    const std::optional<std::string> name =
        ReadSystemText(absl::StrCat(root, "/proc/", pid, "/comm"));
    if (!name.has_value()) continue;
    const std::string program(absl::StripAsciiWhitespace(*name));
    if (std::find(names.begin(), names.end(), program) != names.end()) {
      found.push_back(absl::StrCat("pid ", pid, " (", program, ")"));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool CountersAreOpenToAll(const std::string& root) {
  const std::optional<std::string> parameters = ReadSystemText(root + "/proc/driver/nvidia/params");
  return parameters.has_value() && ValueOf(*parameters, "RmProfilingAdminOnly") == "0";
}

}  // namespace utlz
