#include "tools/attribution_check/capture.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tools/attribution_check/gzip_lines.h"

namespace utlz {
namespace {

constexpr int64_t kLatestNs = int64_t{1} << 62;
constexpr int64_t kLongestLaunchNs = int64_t{24} * 3600 * 1'000'000'000;

absl::Status BadLine(const std::string& path, size_t number, const char* wanted) {
  return absl::InvalidArgumentError(absl::StrCat(path, " line ", number, " is not ", wanted));
}

std::vector<absl::string_view> Fields(absl::string_view line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
}

absl::StatusOr<std::vector<std::string>> ReadNames(const std::string& path) {
  std::vector<std::string> names;
  const absl::Status status = ForEachGzipLine(path, [&](size_t, absl::string_view line) {
    names.emplace_back(line);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return names;
}

absl::Status ReadLaunches(const std::string& path, const std::vector<std::string>& names,
                          Capture* capture) {
  std::map<KernelKey, size_t> keys;
  return ForEachGzipLine(path, [&](size_t number, absl::string_view line) {
    const std::vector<absl::string_view> fields = Fields(line);
    if (fields.empty()) return absl::OkStatus();
    CapturedLaunch launch;
    KernelKey key;
    uint64_t name = 0;
    if (fields.size() < 6 || !absl::SimpleAtoi(fields[0], &launch.start_ns) ||
        !absl::SimpleAtoi(fields[1], &launch.end_ns) || !absl::SimpleAtoi(fields[2], &name) ||
        !absl::SimpleAtoi(fields[3], &key.grid[0]) || !absl::SimpleAtoi(fields[4], &key.grid[1]) ||
        !absl::SimpleAtoi(fields[5], &key.grid[2]) || name >= names.size()) {
      return BadLine(path, number, "start, end, index into names, grid x, y, z");
    }
    key.name = names[name];
    const auto [known, added] = keys.emplace(std::move(key), capture->keys.size());
    if (added) capture->keys.push_back(known->first);
    launch.key = known->second;
    capture->launches.push_back(launch);
    return absl::OkStatus();
  });
}

absl::Status ReadSamples(const std::string& path, Capture* capture) {
  return ForEachGzipLine(path, [&](size_t number, absl::string_view line) {
    const std::vector<absl::string_view> fields = Fields(line);
    if (number == 1 || fields.empty()) return absl::OkStatus();
    CapturedSample sample;
    double tensor_percent = 0;
    double elapsed_cycles = 0;
    if (fields.size() < 7 || !absl::SimpleAtoi(fields[0], &sample.start_ns) ||
        !absl::SimpleAtoi(fields[1], &sample.end_ns) ||
        !absl::SimpleAtod(fields[2], &sample.dram_read_bytes) ||
        !absl::SimpleAtod(fields[3], &sample.dram_write_bytes) ||
        !absl::SimpleAtod(fields[4], &tensor_percent) ||
        !absl::SimpleAtod(fields[6], &elapsed_cycles)) {
      return BadLine(path, number, "start, end and five counters");
    }
    sample.tensor_active_cycles = tensor_percent / 100 * elapsed_cycles;
    capture->samples.push_back(sample);
    return absl::OkStatus();
  });
}

// In order of time; one of rows that are the same.
void Order(Capture* capture) {
  std::vector<CapturedLaunch>& launches = capture->launches;
  std::stable_sort(
      launches.begin(), launches.end(), [](const CapturedLaunch& a, const CapturedLaunch& b) {
        return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns < b.end_ns;
      });
  const size_t rows = launches.size();
  const auto doubled = std::unique(
      launches.begin(), launches.end(), [](const CapturedLaunch& a, const CapturedLaunch& b) {
        return IsPlaced(a) && a.start_ns == b.start_ns && a.end_ns == b.end_ns && a.key == b.key;
      });
  launches.erase(doubled, launches.end());
  capture->doubled_launches = rows - launches.size();
  std::stable_sort(
      capture->samples.begin(), capture->samples.end(),
      [](const CapturedSample& a, const CapturedSample& b) { return a.start_ns < b.start_ns; });
}

}  // namespace

absl::StatusOr<Capture> ReadCapture(const std::string& prefix) {
  const absl::StatusOr<std::vector<std::string>> names = ReadNames(prefix + ".names.gz");
  if (!names.ok()) return names.status();
  Capture capture;
  absl::Status status = ReadLaunches(prefix + ".k.gz", *names, &capture);
  if (status.ok()) status = ReadSamples(prefix + ".pm.gz", &capture);
  if (!status.ok()) return status;
  Order(&capture);
  return capture;
}

bool IsPlaced(const CapturedLaunch& launch) {
  return launch.start_ns >= 0 && launch.start_ns <= kLatestNs && launch.end_ns > launch.start_ns &&
         launch.end_ns - launch.start_ns <= kLongestLaunchNs;
}

bool IsCopyName(const std::string& name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const char* prefix : {"[cuda mem", "memcpy", "memset", "[memcpy", "[memset"}) {
    if (lower.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

}  // namespace utlz
