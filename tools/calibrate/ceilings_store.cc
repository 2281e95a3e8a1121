#include "tools/calibrate/ceilings_store.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "collector/files/output_file.h"
#include "collector/files/output_stream.h"
#include "tools/json/nesting.h"

namespace utlz {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr char kSchema[] = "utlz.ceilings/1";
constexpr size_t kMaxFiles = 256;
constexpr size_t kMaxFileBytes = 64 << 10;
constexpr size_t kMaxRates = 64;
constexpr size_t kMaxTextBytes = 256;

// Cut between two characters of UTF-8, or no frame that holds the text could be read again.
std::string TextOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string()) return {};
  std::string text = found->get<std::string>();
  if (text.size() <= kMaxTextBytes) return text;
  size_t end = kMaxTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text;
}

// Zero where it is absent or no rate.
double RateOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return 0;
  const double value = found->get<double>();
  return std::isfinite(value) && value > 0 ? value : 0;
}

// The UUID becomes a file's name.
bool IsUuid(const std::string& text) {
  return text.size() == 40 && text.compare(0, 4, "GPU-") == 0 &&
         text.find_first_not_of("0123456789abcdef-", 4) == std::string::npos;
}

absl::Status CannotKeep(const absl::Status& why) {
  return absl::UnavailableError("cannot keep the ceilings: " + std::string(why.message()));
}

}  // namespace

std::string CeilingsFolder() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/utlz/ceilings";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/state/utlz/ceilings";
  return {};
}

std::string CeilingsToJson(const DeviceCeilings& ceilings) {
  Json json = {{"schema", kSchema},
               {"uuid", ceilings.uuid()},
               {"name", ceilings.name()},
               {"driver_version", ceilings.driver_version()},
               {"utlz_version", ceilings.utlz_version()},
               {"time_ns", ceilings.time_ns()},
               {"idle", ceilings.idle()}};
  if (ceilings.copy_bytes_per_second() > 0) {
    json["copy_bytes_per_second"] = ceilings.copy_bytes_per_second();
    json["triad_bytes_per_second"] = ceilings.triad_bytes_per_second();
  }
  json["rates"] = Json::array();
  for (const DeviceCeilings::Rate& rate : ceilings.rate()) {
    Json entry = {{"data_type", rate.data_type()}, {"flops_per_second", rate.flops_per_second()}};
    if (rate.sm_clock_hz() > 0) entry["sm_clock_hz"] = rate.sm_clock_hz();
    entry["library"] = rate.library();
    json["rates"].push_back(entry);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<DeviceCeilings> CeilingsFromJson(const std::string& text) {
  const Json json = NestsTooDeeply(text) ? Json() : Json::parse(text, nullptr, false);
  if (!json.is_object() || TextOf(json, "schema") != kSchema || !IsUuid(TextOf(json, "uuid"))) {
    return absl::InvalidArgumentError("not ceilings of utlz calibrate (utlz.ceilings/1)");
  }
  DeviceCeilings ceilings;
  ceilings.set_uuid(TextOf(json, "uuid"));
  ceilings.set_name(TextOf(json, "name"));
  ceilings.set_driver_version(TextOf(json, "driver_version"));
  ceilings.set_utlz_version(TextOf(json, "utlz_version"));
  const auto time = json.find("time_ns");
  if (time != json.end() && time->is_number_unsigned()) ceilings.set_time_ns(*time);
  const auto idle = json.find("idle");
  ceilings.set_idle(idle != json.end() && idle->is_boolean() && idle->get<bool>());
  ceilings.set_copy_bytes_per_second(RateOf(json, "copy_bytes_per_second"));
  ceilings.set_triad_bytes_per_second(RateOf(json, "triad_bytes_per_second"));
  const auto rates = json.find("rates");
  if (rates == json.end() || !rates->is_array()) return ceilings;
  for (const Json& entry : *rates) {
    if (!entry.is_object() || RateOf(entry, "flops_per_second") <= 0) continue;
    if (static_cast<size_t>(ceilings.rate_size()) >= kMaxRates) break;
    DeviceCeilings::Rate* rate = ceilings.add_rate();
    rate->set_data_type(TextOf(entry, "data_type"));
    rate->set_flops_per_second(RateOf(entry, "flops_per_second"));
    rate->set_sm_clock_hz(RateOf(entry, "sm_clock_hz"));
    rate->set_library(TextOf(entry, "library"));
  }
  return ceilings;
}

absl::StatusOr<std::string> SaveCeilings(const std::string& folder,
                                         const DeviceCeilings& ceilings) {
  if (folder.empty()) {
    return absl::FailedPreconditionError(
        "there is no folder to keep the ceilings in; set HOME or "
        "XDG_STATE_HOME");
  }
  if (!IsUuid(ceilings.uuid())) {
    return absl::FailedPreconditionError("the GPU has no UUID to keep its ceilings by");
  }
  const std::string path = folder + "/" + ceilings.uuid() + ".json";
  absl::StatusOr<OutputFile> file =
      OutputFile::Create(path, {.what = "ceilings", .make_folders = true});
  if (!file.ok()) return CannotKeep(file.status());
  OutputStream stream(file->fd());
  stream << CeilingsToJson(ceilings);
  if (!stream.flush()) return CannotKeep(absl::ErrnoToStatus(errno, "writing failed"));
  if (absl::Status status = file->Publish(); !status.ok()) return CannotKeep(status);
  return path;
}

std::vector<DeviceCeilings> LoadCeilings(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  if (folder.empty()) return {};
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != ".json" || !entry->is_regular_file(error)) continue;
    if (paths.size() < kMaxFiles) paths.push_back(entry->path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<DeviceCeilings> all;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::string text(kMaxFileBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
    const absl::StatusOr<DeviceCeilings> ceilings = CeilingsFromJson(text);
    if (ceilings.ok()) all.push_back(*ceilings);
  }
  return all;
}

}  // namespace utlz
