#include "collector/session/sampler_feed.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

constexpr std::chrono::milliseconds kStopLimit(2000);

}  // namespace

void SamplerFeed::Start(const std::string& executable, CountersMode mode) {
  SamplerClientOptions options;
  options.executable = executable;
  options.options.counters = mode == CountersMode::kAuto || mode == CountersMode::kSample;
  // Short runs end before a sparing sampler has seen every kernel: let it spend early.
  options.options.cpu_burst_ns = 6'000'000'000;
  absl::StatusOr<std::unique_ptr<SamplerClient>> client = SamplerClient::Start(options);
  if (client.ok()) {
    client_ = *std::move(client);
  } else {
    notices_.push_back(absl::StrCat(
        "No device counters: the sampler did not start: ", client.status().message(), "."));
  }
}

void SamplerFeed::Read() {
  if (client_ == nullptr || !client_->running()) return;
  const absl::Status status =
      client_->Read([this](uint16_t type, std::string_view payload) { Forward(type, payload); });
  if (!status.ok()) {
    notices_.push_back(
        absl::StrCat("Device counters end early: the sampler stopped: ", status.message(), "."));
  }
}

void SamplerFeed::UseDevice(std::string_view uuid) {
  device_used_ = true;
  // Failing means that the sampler has ended, which Read() says.
  if (client_ != nullptr && client_->running()) client_->UseDevice(uuid).IgnoreError();
}

void SamplerFeed::OpenWindow() {
  if (client_ != nullptr && client_->running()) client_->StartWindow().IgnoreError();
}

void SamplerFeed::Yield() {
  if (client_ != nullptr && client_->running()) client_->Yield().IgnoreError();
}

void SamplerFeed::Resume() {
  if (client_ != nullptr && client_->running()) client_->Resume().IgnoreError();
}

void SamplerFeed::Stop() {
  if (client_ == nullptr) return;
  const auto forward = [this](uint16_t type, std::string_view payload) { Forward(type, payload); };
  client_->Read(forward).IgnoreError();
  // One that has said nothing is still setting CUDA up, which takes long. Where no target used a
  // GPU there is nothing to wait for.
  const bool idle = !device_used_ && client_->frames() == 0;
  client_->Stop(forward, idle ? std::chrono::milliseconds(0) : kStopLimit);
}

void SamplerFeed::Forward(uint16_t type, std::string_view payload) {
  if (type >= FRAME_METRIC_SET && type < FRAME_RUN_START) {
    sink_(type, payload);
  } else {
    ++refused_frames_;
  }
}

}  // namespace utlz
