#include "collector/sampler/sharing/competing_profilers.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/sampler/driver/system_files.h"

namespace utlz {
namespace {

constexpr uint64_t kPauseNs = 500'000'000;
constexpr uint64_t kLongestPauseNs = 10'000'000'000;
// Looking takes at most one part in so many of the time.
constexpr uint64_t kPausePerCost = 200;
constexpr size_t kMostBytes = size_t{1} << 20;
constexpr char kModule[] = "libdcgmmoduleprofiling";
constexpr size_t kMostGone = 64;
constexpr int kMostChildren = 16;
constexpr int kMostDescriptors = 4096;
constexpr int kCapabilitySysAdmin = 21;
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

std::string CompetingProfilers::Path(int pid, const std::string& file) const {
  return absl::StrCat(root_, "/proc/", pid, "/", file);
}

void CompetingProfilers::Look(uint64_t now_ns) {
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
    if (known.kind != Kind::kNone) LookForGpus(pid, &known);
    if (before != known_.end()) known_.erase(before);
    found.emplace(pid, std::move(known));
  }
  std::erase_if(gone_, [now_ns](const Known& gone) { return now_ns >= gone.wants_until_ns; });
  // Those that are left have ended.
  for (auto& [pid, known] : known_) {
    if (known.wants_until_ns != kForever || gone_.size() == kMostGone) continue;
    if (!known.is_trusted && (!known.may_count || known.gpus.empty())) continue;  // not trusted
    known.wants_until_ns = now_ns + kLingerNs;
    gone_.push_back(std::move(known));
  }
  known_ = std::move(found);
  looked_ = true;
  const uint64_t cost_ns = MonotonicNs() - begin_ns;
  next_look_ns_ = now_ns + std::clamp(cost_ns * kPausePerCost, kPauseNs, kLongestPauseNs);
}

void CompetingProfilers::Examine(int pid, Known* known) const {
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
    LookForUser(pid, known);
  }
}

// A program with the set-user-ID bit runs as root in one of its numbers and as whoever started it,
// by whatever name, in another.
void CompetingProfilers::LookForUser(int pid, Known* known) const {
  known->is_trusted = false;
  known->may_count = CountersAreOpenToAll(root_);
  std::ifstream file(Path(pid, "status"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "Uid:") {
      uint64_t users[4] = {};
      for (uint64_t& user : users) words >> user;
      const auto is_ours = [](uint64_t user) { return user == 0 || user == geteuid(); };
      known->is_trusted = words && std::all_of(std::begin(users), std::end(users), is_ours);
    } else if (key == "CapEff:") {
      uint64_t capabilities = 0;
      words >> std::hex >> capabilities;
      known->may_count |= words && (capabilities >> kCapabilitySysAdmin & 1) != 0;
    }
  }
}

// Nsight Compute runs the program that it profiles as its child, and this has the GPU open.
void CompetingProfilers::LookForGpus(int pid, Known* known) const {
  known->gpus.clear();
  AddOpenGpus(pid, &known->gpus);
  std::ifstream children(Path(pid, absl::StrCat("task/", pid, "/children")));
  int child = 0;
  for (int count = 0; count < kMostChildren && children >> child; ++count) {
    AddOpenGpus(child, &known->gpus);
  }
}

void CompetingProfilers::AddOpenGpus(int pid, std::set<int>* gpus) const {
  constexpr std::string_view kDevice = "/dev/nvidia";
  const std::string path = Path(pid, "fd");
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  for (int count = 0; folder != nullptr && count < kMostDescriptors; ++count) {
    const dirent* entry = readdir(folder.get());
    if (entry == nullptr) return;
    char target[64];
    const ssize_t length = readlinkat(dirfd(folder.get()), entry->d_name, target, sizeof(target));
    const std::string_view text(target, static_cast<size_t>(std::max<ssize_t>(0, length)));
    int gpu = 0;
    if (text.starts_with(kDevice) &&
        absl::SimpleAtoi(std::string(text.substr(kDevice.size())), &gpu)) {
      gpus->insert(gpu);
    }
  }
}

// N of /dev/nvidiaN; none where the driver does not say.
std::optional<int> CompetingProfilers::GpuNumber(const std::string& pci_bus) const {
  const auto [found, is_new] = gpu_numbers_.try_emplace(pci_bus);
  if (!is_new) return found->second;
  std::ifstream file(absl::StrCat(root_, "/proc/driver/nvidia/gpus/",
                                  absl::AsciiStrToLower(pci_bus), "/information"));
  constexpr std::string_view kKey = "Device Minor:";
  for (std::string line; std::getline(file, line);) {
    int number = 0;
    if (line.starts_with(kKey) &&
        absl::SimpleAtoi(absl::StripAsciiWhitespace(line.substr(kKey.size())), &number)) {
      found->second = number;
    }
  }
  return found->second;
}

bool CompetingProfilers::IsAbout(const Known& known, std::optional<int> gpu) const {
  const bool has_it_open = gpu.has_value() && known.gpus.contains(*gpu);
  if (!known.is_trusted) return known.may_count && has_it_open;
  return !gpu.has_value() || known.gpus.empty() || has_it_open;
}

// What had it loaded before we came has the counters or has not: the hardware says which.
void CompetingProfilers::LookForModule(uint64_t now_ns, int pid, Known* known) const {
  if (known->module_loaded) return;
  known->module_loaded = absl::StrContains(ReadText(Path(pid, "maps")), kModule);
  if (known->module_loaded && looked_) known->wants_until_ns = now_ns + kModuleNs;
}

std::optional<std::string> CompetingProfilers::Present(uint64_t now_ns, bool has_gpm,
                                                       const std::string& pci_bus) const {
  const std::optional<int> gpu = GpuNumber(pci_bus);
  for (const auto& [pid, known] : known_) {
    if (now_ns < known.wants_until_ns && !(has_gpm && known.kind == Kind::kDcgm) &&
        IsAbout(known, gpu)) {
      return known.name;
    }
  }
  for (const Known& gone : gone_) {
    if (now_ns < gone.wants_until_ns && IsAbout(gone, gpu)) return gone.name;
  }
  return std::nullopt;
}

}  // namespace utlz
