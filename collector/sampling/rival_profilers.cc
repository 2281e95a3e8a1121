#include "collector/sampling/rival_profilers.h"

#include <dirent.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collector/sampling/clocks.h"

namespace utlz {
namespace {

constexpr uint64_t kPauseNs = 500'000'000;
constexpr uint64_t kLongestPauseNs = 10'000'000'000;
// Looking takes at most one part in so many of the time.
constexpr uint64_t kPausePerCost = 200;
constexpr size_t kMostBytes = size_t{1} << 20;
constexpr char kModule[] = "libdcgmmoduleprofiling";
constexpr uint64_t kForever = UINT64_MAX;

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Arguments are separated by zeros: "--gpu-metrics-devices=all", or the value as the next one.
bool SamplesGpuMetrics(const std::string& arguments) {
  const size_t option = arguments.find("--gpu-metrics-device");
  if (option == std::string::npos) return false;
  const size_t value = arguments.find_first_of(std::string_view("=\0", 2), option);
  return value != std::string::npos && arguments.compare(value + 1, 4, "none") != 0;
}

}  // namespace

std::string RivalProfilers::Path(int pid, const char* file) const {
  return absl::StrCat(root_, "/proc/", pid, "/", file);
}

void RivalProfilers::Look(uint64_t now_ns) {
  if (now_ns < next_look_ns_) return;
  const uint64_t begin_ns = MonotonicNs();
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir((root_ + "/proc").c_str()), closedir);
  std::map<int, Known> found;
  while (const dirent* entry = folder == nullptr ? nullptr : readdir(folder.get())) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry->d_name, &pid)) continue;
    const auto before = known_.find(pid);
    Known known = before == known_.end() ? Known() : std::move(before->second);
    if (known.looks_left > 0 || known.kind != Kind::kNone) Examine(pid, &known);
    if (known.kind == Kind::kProfiler) known.wants_until_ns = kForever;
    if (known.kind == Kind::kDcgm) LookForModule(now_ns, pid, &known);
    if (before != known_.end()) known_.erase(before);
    found.emplace(pid, std::move(known));
  }
  // Those that are left have ended.
  for (auto& [pid, known] : known_) {
    if (known.wants_until_ns != kForever) continue;
    gone_ = std::move(known);
    gone_.wants_until_ns = now_ns + kLingerNs;
  }
  known_ = std::move(found);
  looked_ = true;
  const uint64_t cost_ns = MonotonicNs() - begin_ns;
  next_look_ns_ = now_ns + std::clamp(cost_ns * kPausePerCost, kPauseNs, kLongestPauseNs);
}

void RivalProfilers::Examine(int pid, Known* known) const {
  known->looks_left = std::max(0, known->looks_left - 1);
  const std::string program = ReadLine(Path(pid, "comm"));
  Kind kind = Kind::kNone;
  // The kernel cuts a name after 15 characters.
  if (program == "ncu" || program == "nv-nsight-cu-cl" ||
      (program == "nsys" && SamplesGpuMetrics(ReadText(Path(pid, "cmdline"))))) {
    kind = Kind::kProfiler;
  } else if (program == "nv-hostengine" || program == "dcgm-exporter") {
    kind = Kind::kDcgm;
  }
  // One that has ended keeps its name until its parent asks how, and has no arguments.
  if (kind == Kind::kProfiler && ReadText(Path(pid, "cmdline")).empty()) kind = Kind::kNone;
  known->kind = kind;
  if (kind == Kind::kNone) {
    known->wants_until_ns = 0;
  } else {
    known->name = absl::StrCat(program, ", process ", pid);
  }
}

// What had it loaded before we came has the counters or has not: the hardware says which.
void RivalProfilers::LookForModule(uint64_t now_ns, int pid, Known* known) const {
  if (known->module_loaded) return;
  known->module_loaded = absl::StrContains(ReadText(Path(pid, "maps")), kModule);
  if (known->module_loaded && looked_) known->wants_until_ns = now_ns + kModuleNs;
}

std::optional<std::string> RivalProfilers::Present(uint64_t now_ns, bool has_gpm) const {
  for (const auto& [pid, known] : known_) {
    if (now_ns < known.wants_until_ns && !(has_gpm && known.kind == Kind::kDcgm)) {
      return known.name;
    }
  }
  if (now_ns < gone_.wants_until_ns) return gone_.name;
  return std::nullopt;
}

}  // namespace utlz
