#include "collector/live/live_message.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr double kHighestShare = 2;  // what is measured over two different times may exceed 1
constexpr double kHighestNumber = 1e30;

absl::Status Refused(const char* what) {
  return absl::InvalidArgumentError(absl::StrCat("a live snapshot with ", what));
}

bool IsNumber(double value, double highest) {
  return std::isfinite(value) && value >= 0 && value <= highest;
}

bool IsShare(bool known, double value) { return !known || IsNumber(value, kHighestShare); }
bool IsAmount(bool known, double value) { return !known || IsNumber(value, kHighestNumber); }

bool NumbersArePossible(const LiveDevice& device) {
  for (const LiveCause& cause : device.causes()) {
    if (!IsShare(true, cause.share())) return false;
  }
  return IsShare(device.has_hfu(), device.hfu()) &&
         IsShare(device.has_compute_share(), device.compute_share()) &&
         IsShare(device.has_memory_share(), device.memory_share()) &&
         IsShare(device.has_sm_active(), device.sm_active()) &&
         IsShare(device.has_busy(), device.busy()) &&
         IsShare(device.has_attained_compute_share(), device.attained_compute_share()) &&
         IsShare(device.has_attained_memory_share(), device.attained_memory_share()) &&
         IsShare(device.has_workload_compute_share(), device.workload_compute_share()) &&
         IsShare(device.has_workload_memory_share(), device.workload_memory_share());
}

bool NumbersArePossible(const LiveProcess& process) {
  return IsShare(process.has_hfu(), process.hfu()) &&
         IsShare(process.has_kernel_share(), process.kernel_share()) &&
         IsShare(process.has_traced_share(), process.traced_share()) &&
         IsAmount(process.has_step_seconds(), process.step_seconds());
}

bool NumbersArePossible(const LiveKernel& kernel) {
  return IsShare(kernel.has_time_share(), kernel.time_share()) &&
         IsAmount(kernel.has_mean_time_ns(), kernel.mean_time_ns()) &&
         IsShare(kernel.has_roof_share(), kernel.roof_share()) &&
         IsAmount(kernel.has_flops_per_second(), kernel.flops_per_second()) &&
         IsAmount(kernel.has_dram_bytes_per_second(), kernel.dram_bytes_per_second());
}

bool NumbersArePossible(const LiveOwner& owner) {
  return IsShare(owner.has_time_share(), owner.time_share()) &&
         IsAmount(owner.has_mean_time_ns(), owner.mean_time_ns()) &&
         IsShare(owner.has_roof_share(), owner.roof_share()) &&
         IsAmount(owner.has_flops_per_second(), owner.flops_per_second()) &&
         IsAmount(owner.has_dram_bytes_per_second(), owner.dram_bytes_per_second());
}

bool NumbersArePossible(const LiveSnapshot& snapshot) {
  const auto all = [](const auto& entries) {
    for (const auto& entry : entries) {
      if (!NumbersArePossible(entry)) return false;
    }
    return true;
  };
  return IsAmount(snapshot.has_steps(), snapshot.steps()) &&
         IsAmount(snapshot.has_step_seconds(), snapshot.step_seconds()) &&
         IsShare(snapshot.has_mfu(), snapshot.mfu()) && all(snapshot.devices()) &&
         all(snapshot.processes()) && all(snapshot.kernels()) && all(snapshot.layers()) &&
         all(snapshot.lines());
}

bool TextsFit(const LiveSnapshot& snapshot) {
  const auto fits = [](const std::string& text) { return text.size() <= kMaxLiveTextBytes; };
  bool all = fits(snapshot.command()) && fits(snapshot.counters_reason()) &&
             fits(snapshot.owners_reason());
  for (const LiveDevice& device : snapshot.devices()) {
    all = all && fits(device.uuid());
    for (const LiveCause& cause : device.causes()) all = all && fits(cause.name());
  }
  for (const LiveProcess& process : snapshot.processes()) all = all && fits(process.agent());
  for (const LiveKernel& kernel : snapshot.kernels()) {
    all = all && fits(kernel.name()) && fits(kernel.device_uuid()) && fits(kernel.family());
  }
  for (const auto* owners : {&snapshot.layers(), &snapshot.lines()}) {
    for (const LiveOwner& owner : *owners) {
      all = all && fits(owner.kind()) && fits(owner.name()) && fits(owner.module_class());
    }
  }
  return all;
}

bool CountsFit(const LiveSnapshot& snapshot) {
  for (const LiveDevice& device : snapshot.devices()) {
    if (device.causes_size() > kMaxLiveCauses) return false;
  }
  for (const LiveKernel& kernel : snapshot.kernels()) {
    if (kernel.pids_size() > kMaxLivePids) return false;
  }
  return snapshot.devices_size() <= kMaxLiveDevices &&
         snapshot.processes_size() <= kMaxLiveProcesses &&
         snapshot.kernels_size() <= kMaxLiveKernels && snapshot.layers_size() <= kMaxLiveOwners &&
         snapshot.lines_size() <= kMaxLiveOwners;
}

}  // namespace

std::string EncodeLive(const LiveSnapshot& snapshot) {
  const size_t size = snapshot.ByteSizeLong();
  if (size > kMaxLiveBytes) return {};
  const LiveHeader header{kLiveMagic, static_cast<uint32_t>(size)};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  snapshot.AppendToString(&bytes);
  return bytes;
}

absl::Status CheckLive(const LiveSnapshot& snapshot) {
  if (!CountsFit(snapshot)) return Refused("too many entries");
  if (!TextsFit(snapshot)) return Refused("a text that is too long");
  if (!NumbersArePossible(snapshot)) return Refused("a number that cannot be");
  return absl::OkStatus();
}

absl::Status LiveStream::Push(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    // No more is kept than the message that is under way.
    LiveHeader header{};
    size_t wanted = sizeof(header);
    if (buffer_.size() >= sizeof(header)) {
      std::memcpy(&header, buffer_.data(), sizeof(header));
      wanted += header.bytes;
    }
    const size_t taken = std::min(bytes.size(), wanted - buffer_.size());
    buffer_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (buffer_.size() < sizeof(header)) return absl::OkStatus();
    std::memcpy(&header, buffer_.data(), sizeof(header));
    if (header.magic != kLiveMagic || header.bytes > kMaxLiveBytes) {
      return Refused("a header that is none");
    }
    if (buffer_.size() < sizeof(header) + header.bytes) continue;
    LiveSnapshot snapshot;
    if (!snapshot.ParseFromArray(buffer_.data() + sizeof(header), static_cast<int>(header.bytes))) {
      return Refused("bytes that are no message");
    }
    buffer_.clear();
    if (absl::Status status = CheckLive(snapshot); !status.ok()) return status;
    sink(std::move(snapshot));
  }
  return absl::OkStatus();
}

}  // namespace utlz
