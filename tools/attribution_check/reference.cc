#include "tools/attribution_check/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/attribution_check/gzip_lines.h"

namespace utlz {
namespace {

// Fields of a line of comma-separated values; quotes may hold commas and doubled quotes.
std::vector<std::string> SplitCsv(absl::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char next = line[i];
    if (next == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back().push_back('"');
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (next == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back().push_back(next);
    }
  }
  return fields;
}

std::optional<double> Number(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

// Factor of a unit to bytes or nanoseconds; 1 for counts.
double UnitFactor(const std::string& unit) {
  static const std::map<std::string, double> factors = {
      {"Kbyte", 1e3}, {"Mbyte", 1e6},   {"Gbyte", 1e9}, {"us", 1e3},    {"usecond", 1e3},
      {"ms", 1e6},    {"msecond", 1e6}, {"s", 1e9},     {"second", 1e9}};
  const auto known = factors.find(unit);
  return known == factors.end() ? 1 : known->second;
}

std::optional<std::array<uint32_t, 3>> ParseGrid(const std::string& text) {
  std::array<uint32_t, 3> grid{};
  size_t at = 0;
  for (size_t i = 0; i < text.size() && at < 3;) {
    if (text[i] < '0' || text[i] > '9') {
      ++i;
      continue;
    }
    uint64_t value = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      value = value * 10 + static_cast<uint64_t>(text[i] - '0');
      if (value > UINT32_MAX) return std::nullopt;
    }
    grid[at++] = static_cast<uint32_t>(value);
  }
  if (at != 3) return std::nullopt;
  return grid;
}

struct Columns {
  size_t id, name, grid, metric, unit, value;
};

std::optional<Columns> FindColumns(const std::vector<std::string>& header) {
  const auto find = [&header](const char* wanted) {
    return static_cast<size_t>(std::find(header.begin(), header.end(), wanted) - header.begin());
  };
  const Columns columns = {find("ID"),          find("Kernel Name"), find("Grid Size"),
                           find("Metric Name"), find("Metric Unit"), find("Metric Value")};
  for (const size_t column :
       {columns.id, columns.name, columns.grid, columns.metric, columns.unit, columns.value}) {
    if (column >= header.size()) return std::nullopt;
  }
  return columns;
}

void SetMetric(const std::string& metric, double value, ReferenceLaunch* launch) {
  if (metric == "dram__bytes_read.sum") launch->dram_read_bytes = value;
  if (metric == "dram__bytes_write.sum") launch->dram_write_bytes = value;
  if (metric == "gpu__time_duration.sum") launch->duration_ns = value;
  if (metric.rfind("sm__ops_path_tensor_", 0) == 0 && metric.size() > 4 &&
      metric.compare(metric.size() - 4, 4, ".sum") == 0) {
    launch->tensor_flops += value;
  }
}

absl::Status AddRow(const std::vector<std::string>& fields, const Columns& columns,
                    const std::string& where, std::map<uint64_t, ReferenceLaunch>* launches) {
  if (fields.size() <= std::max({columns.id, columns.name, columns.grid, columns.metric,
                                 columns.unit, columns.value})) {
    return absl::OkStatus();
  }
  uint64_t id = 0;
  const auto grid = ParseGrid(fields[columns.grid]);
  const auto value = Number(fields[columns.value]);
  if (!absl::SimpleAtoi(fields[columns.id], &id) || !grid || !value) {
    return absl::InvalidArgumentError(absl::StrCat(where, " has no readable ID, grid or value"));
  }
  ReferenceLaunch& launch = (*launches)[id];
  launch.key = {fields[columns.name], *grid};
  SetMetric(fields[columns.metric], *value * UnitFactor(fields[columns.unit]), &launch);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ReferenceLaunch>> ReadOne(const std::string& path) {
  std::optional<Columns> columns;
  std::map<uint64_t, ReferenceLaunch> launches;
  const absl::Status status = ForEachGzipLine(path, [&](size_t number, absl::string_view line) {
    const std::vector<std::string> fields = SplitCsv(line);
    if (columns) return AddRow(fields, *columns, absl::StrCat(path, " line ", number), &launches);
    // Lines that ncu prints before the table have no such header.
    columns = FindColumns(fields);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (launches.empty()) return absl::InvalidArgumentError(absl::StrCat(path, " has no launches"));
  std::vector<ReferenceLaunch> ordered;
  for (auto& [id, launch] : launches) ordered.push_back(std::move(launch));
  return ordered;
}

}  // namespace

absl::StatusOr<std::vector<ReferenceLaunch>> ReadReference(const std::vector<std::string>& paths) {
  std::vector<ReferenceLaunch> mean;
  const double weight = 1.0 / static_cast<double>(std::max<size_t>(paths.size(), 1));
  for (const std::string& path : paths) {
    const absl::StatusOr<std::vector<ReferenceLaunch>> one = ReadOne(path);
    if (!one.ok()) return one.status();
    if (mean.empty()) {
      mean.resize(one->size());
      for (size_t i = 0; i < one->size(); ++i) mean[i].key = (*one)[i].key;
    }
    if (one->size() != mean.size()) {
      return absl::InvalidArgumentError(absl::StrCat(path, " has other launches than ", paths[0]));
    }
    for (size_t i = 0; i < mean.size(); ++i) {
      if ((*one)[i].key != mean[i].key) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, " launch ", i, " differs from that of ", paths[0]));
      }
      mean[i].dram_read_bytes += weight * (*one)[i].dram_read_bytes;
      mean[i].dram_write_bytes += weight * (*one)[i].dram_write_bytes;
      mean[i].tensor_flops += weight * (*one)[i].tensor_flops;
      mean[i].duration_ns += weight * (*one)[i].duration_ns;
    }
  }
  return mean;
}

}  // namespace utlz
