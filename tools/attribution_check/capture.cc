#include "tools/attribution_check/capture.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/attribution_check/gzip_lines.h"

namespace utlz {
namespace {

absl::Status BadLine(const std::string& path, size_t index, const char* wanted) {
  return absl::InvalidArgumentError(absl::StrCat(path, " line ", index + 1, " is not ", wanted));
}

std::vector<std::string> Fields(const std::string& line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
}

absl::Status ReadLaunches(const std::string& path, const std::vector<std::string>& names,
                          Capture* capture) {
  const absl::StatusOr<std::vector<std::string>> lines = ReadGzipLines(path);
  if (!lines.ok()) return lines.status();
  std::map<KernelKey, size_t> keys;
  for (size_t i = 0; i < lines->size(); ++i) {
    const std::vector<std::string> fields = Fields((*lines)[i]);
    if (fields.empty()) continue;
    CapturedLaunch launch;
    KernelKey key;
    uint64_t name = 0;
    if (fields.size() < 6 || !absl::SimpleAtoi(fields[0], &launch.start_ns) ||
        !absl::SimpleAtoi(fields[1], &launch.end_ns) || !absl::SimpleAtoi(fields[2], &name) ||
        !absl::SimpleAtoi(fields[3], &key.grid[0]) || !absl::SimpleAtoi(fields[4], &key.grid[1]) ||
        !absl::SimpleAtoi(fields[5], &key.grid[2]) || name >= names.size()) {
      return BadLine(path, i, "start, end, index into names, grid x, y, z");
    }
    key.name = names[name];
    const auto [known, added] = keys.emplace(std::move(key), capture->keys.size());
    if (added) capture->keys.push_back(known->first);
    launch.key = known->second;
    capture->launches.push_back(launch);
  }
  std::stable_sort(
      capture->launches.begin(), capture->launches.end(),
      [](const CapturedLaunch& a, const CapturedLaunch& b) { return a.start_ns < b.start_ns; });
  return absl::OkStatus();
}

absl::Status ReadSamples(const std::string& path, Capture* capture) {
  const absl::StatusOr<std::vector<std::string>> lines = ReadGzipLines(path);
  if (!lines.ok()) return lines.status();
  for (size_t i = 1; i < lines->size(); ++i) {
    const std::vector<std::string> fields = Fields((*lines)[i]);
    if (fields.empty()) continue;
    CapturedSample sample;
    double tensor_percent = 0;
    double elapsed_cycles = 0;
    if (fields.size() < 7 || !absl::SimpleAtoi(fields[0], &sample.start_ns) ||
        !absl::SimpleAtoi(fields[1], &sample.end_ns) ||
        !absl::SimpleAtod(fields[2], &sample.dram_read_bytes) ||
        !absl::SimpleAtod(fields[3], &sample.dram_write_bytes) ||
        !absl::SimpleAtod(fields[4], &tensor_percent) ||
        !absl::SimpleAtod(fields[6], &elapsed_cycles)) {
      return BadLine(path, i, "start, end and five counters");
    }
    sample.tensor_active_cycles = tensor_percent / 100 * elapsed_cycles;
    capture->samples.push_back(sample);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Capture> ReadCapture(const std::string& prefix) {
  const absl::StatusOr<std::vector<std::string>> names = ReadGzipLines(prefix + ".names.gz");
  if (!names.ok()) return names.status();
  Capture capture;
  absl::Status status = ReadLaunches(prefix + ".k.gz", *names, &capture);
  if (status.ok()) status = ReadSamples(prefix + ".pm.gz", &capture);
  if (!status.ok()) return status;
  return capture;
}

bool IsCopyName(const std::string& name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const char* prefix : {"[cuda mem", "memcpy", "memset", "[memcpy", "[memset"}) {
    if (lower.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

}  // namespace utlz
