#include "tools/utlz/path_fact.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace utlz {
namespace {

// A wheel's command is a few lines of Python that import this module (tools/dev/make_wheel.py).
constexpr char kWheelModule[] = "utlz._program";
constexpr size_t kScriptBytes = 4096;

bool IsWheelCommand(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string head(kScriptBytes, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  return absl::StartsWith(head, "#!") && absl::StrContains(head, kWheelModule);
}

bool IsExecutable(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

std::vector<std::filesystem::path> ProgramsCalledUtlz(const std::string& path) {
  std::vector<std::filesystem::path> programs;
  for (const absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
    const std::filesystem::path file = std::filesystem::path(std::string(folder)) / "utlz";
    if (IsExecutable(file)) programs.push_back(file);
  }
  return programs;
}

}  // namespace

DoctorFact PathFact(const std::string& path, const std::string& own_program) {
  DoctorFact fact{.name = "name", .status = FactStatus::kGood};
  const std::vector<std::filesystem::path> programs = ProgramsCalledUtlz(path);
  const auto is_ours = [&own_program](const std::filesystem::path& program) {
    std::error_code error;
    return std::filesystem::equivalent(program, own_program, error) || IsWheelCommand(program);
  };
  if (programs.empty()) {
    fact.detail = "no utlz is in the PATH";
    return fact;
  }
  fact.detail = absl::StrCat("utlz in the PATH is ", programs.front().string());
  if (!is_ours(programs.front())) {
    fact.status = FactStatus::kWarning;
    absl::StrAppend(&fact.detail, ", another program than this one, ", own_program);
    fact.remedy = "put the folder of this one first in the PATH, or call it by its whole path";
    return fact;
  }
  for (const std::filesystem::path& program : programs) {
    if (is_ours(program)) continue;
    absl::StrAppend(&fact.detail, "; another program of that name comes later: ", program.string());
    break;
  }
  return fact;
}

}  // namespace utlz
