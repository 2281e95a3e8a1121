#include "tools/exporter/find_places.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/unique_fd.h"

namespace utlz {
namespace {

constexpr size_t kShownContainerBytes = 12;  // as container tools show them
constexpr size_t kContainerBytes = 64;
constexpr size_t kPodBytes = 36;  // of a UUID

std::string ReadFile(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string text(file.valid() ? kMaxProcBytes : 0, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = read(file.get(), text.data() + size, text.size() - size);
    if (count <= 0) break;
    size += static_cast<size_t>(count);
  }
  text.resize(size);
  return text;
}

// The value in "NAME=value"; empty where the entry is another's.
std::string_view ValueOf(std::string_view entry, std::string_view name) {
  const bool fits = entry.size() > name.size() && entry.substr(0, name.size()) == name &&
                    entry[name.size()] == '=';
  return fits ? entry.substr(name.size() + 1) : std::string_view();
}

// The first of these variables that is set to anything.
std::string FirstOf(std::string_view environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::string_view rest = environment;
    while (!rest.empty()) {
      const size_t end = rest.find('\0');
      const std::string_view value = ValueOf(rest.substr(0, end), name);
      if (!value.empty()) return std::string(value);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  return {};
}

bool IsHex(char character) { return std::isxdigit(static_cast<unsigned char>(character)) != 0; }

// The last row of at least `size` hexadecimal digits.
std::string_view LastHex(std::string_view text, size_t size) {
  for (size_t end = text.size(); end > 0;) {
    size_t begin = end;
    while (begin > 0 && IsHex(text[begin - 1])) --begin;
    if (end - begin >= size) return text.substr(begin, end - begin);
    end = begin == end ? end - 1 : begin;
  }
  return {};
}

bool IsDash(char character) { return character == '-' || character == '_'; }

// Of "…/kubepods-burstable-pod0123_….slice/…" or "…/pod0123-…/…": the pod's UID.
std::string_view PodOf(std::string_view cgroup) {
  for (size_t at = cgroup.find("pod"); at != std::string_view::npos; at = cgroup.find("pod", at)) {
    at += 3;
    const std::string_view uid = cgroup.substr(at, kPodBytes);
    const bool fits =
        uid.size() == kPodBytes && IsDash(uid[8]) &&
        std::all_of(uid.begin(), uid.end(), [](char one) { return IsDash(one) || IsHex(one); });
    if (fits) return uid;
  }
  return {};
}

}  // namespace

ProcessPlace PlaceIn(std::string_view environment, std::string_view cgroup) {
  ProcessPlace place;
  place.pod_uid.assign(PodOf(cgroup));
  std::replace(place.pod_uid.begin(), place.pod_uid.end(), '_', '-');
  const bool in_kubernetes =
      !place.pod_uid.empty() || !FirstOf(environment, {"KUBERNETES_SERVICE_HOST"}).empty();
  if (in_kubernetes) {
    place.pod = FirstOf(environment, {"POD_NAME", "K8S_POD_NAME", "HOSTNAME"});
    place.pod_namespace = FirstOf(environment, {"POD_NAMESPACE", "K8S_NAMESPACE"});
    place.container = FirstOf(environment, {"CONTAINER_NAME", "K8S_CONTAINER_NAME"});
  }
  if (place.container.empty()) {
    place.container = LastHex(cgroup, kContainerBytes).substr(0, kShownContainerBytes);
  }
  place.job =
      FirstOf(environment, {"UTLZ_JOB", "SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID", "LSB_JOBID"});
  return place;
}

ProcessPlace FindProcess(const std::string& proc, uint64_t pid) {
  const std::string folder = absl::StrCat(proc, "/", pid);
  return PlaceIn(ReadFile(folder + "/environ"), ReadFile(folder + "/cgroup"));
}

DevicePlace FindDevice(const std::string& proc, const std::string& pci_bus) {
  const std::string folder = proc + "/driver/nvidia/gpus";
  std::vector<std::string> buses;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    buses.push_back(entry.path().filename().string());
  }
  std::sort(buses.begin(), buses.end());  // nvidia-smi numbers them so
  const auto found = std::find(buses.begin(), buses.end(), pci_bus);
  if (found == buses.end()) return {};
  DevicePlace place;
  place.index = absl::StrCat(found - buses.begin());
  const std::string information = ReadFile(absl::StrCat(folder, "/", pci_bus, "/information"));
  constexpr std::string_view kMinor = "Device Minor:";
  const size_t at = information.find(kMinor);
  if (at == std::string::npos) return place;
  size_t begin = information.find_first_not_of(" \t", at + kMinor.size());
  std::string minor;
  while (begin < information.size() &&
         std::isdigit(static_cast<unsigned char>(information[begin]))) {
    minor += information[begin++];
  }
  if (!minor.empty()) place.file = "nvidia" + minor;
  return place;
}

PlaceFinders MachinePlaces() {
  return {.process = [](uint64_t pid) { return FindProcess("/proc", pid); },
          .device = [](const std::string& bus) { return FindDevice("/proc", bus); }};
}

}  // namespace utlz
