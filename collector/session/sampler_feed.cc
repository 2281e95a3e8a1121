#include "collector/session/sampler_feed.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

// Few windows: as much as the hardware tells of each.
constexpr uint64_t kFineIntervalNs = 5000;
// Of the overhead budget, what counters may cost a GPU whose clock is limited by power. It comes
// out of the 0.3 that agents leave (TraceBudget::kShareForTracing).
constexpr double kShareForCounters = 0.25;
// Less attribution is said with the next.
constexpr uint64_t kWorthSayingNs = 1'000'000;
// To read what a window under way has counted.
constexpr std::chrono::milliseconds kStopLimit(2000);

}  // namespace

void SamplerFeed::Start(const SessionOptions& session, SamplingWindows windows) {
  SamplerClientOptions options;
  options.executable = session.sampler_executable;
  options.options.cupti_path = session.cupti_path;
  options.options.program_prefix = session.program_prefix;
  wants_counters_ =
      session.counters == CountersMode::kAuto || session.counters == CountersMode::kSample;
  options.options.counters = wants_counters_;
  options.options.planned_windows = windows != SamplingWindows::kItsOwn;
  options.options.power_loss_ppm =
      static_cast<uint32_t>(kShareForCounters * session.overhead_budget_ppm);
  if (windows == SamplingWindows::kFewPlanned) options.options.interval_ns = kFineIntervalNs;
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

void SamplerFeed::WindowAt(const std::string& device_uuid, uint64_t begin_ns) {
  if (client_ != nullptr && client_->running()) {
    client_->WindowAt(device_uuid, begin_ns).IgnoreError();
  }
}

void SamplerFeed::Progress(const std::string& device_uuid, uint64_t progress) {
  if (client_ == nullptr || !client_->running()) return;
  const auto [said, is_new] = progress_.try_emplace(device_uuid, progress);
  if (!is_new && said->second == progress) return;
  said->second = progress;
  client_->Progress(device_uuid, progress).IgnoreError();
}

void SamplerFeed::CollectorSpent(const std::string& device_uuid, uint64_t cpu_ns) {
  if (client_ == nullptr || !client_->running()) return;
  uint64_t& said_ns = spent_ns_[device_uuid];
  if (cpu_ns < said_ns + kWorthSayingNs) return;
  client_->CollectorSpent(device_uuid, cpu_ns - said_ns).IgnoreError();
  said_ns = cpu_ns;
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
  const bool runs = client_->running();
  // One that has not said where it stands is still setting up, which takes long and has counted
  // nothing: it is killed, and nothing of it remains.
  client_->Stop(forward, has_status_ ? kStopLimit : std::chrono::milliseconds(0));
  if (runs && wants_counters_ && device_used_ && may_count_ && !has_samples_) {
    notices_.push_back(
        "No device counters: the run ended before the first were read; a longer one has them.");
  }
}

void SamplerFeed::ConsumeStatus(std::string_view payload) {
  SamplerStatus status;
  if (!status.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
  has_status_ = true;
  may_count_ = status.counter_source() == SOURCE_SAMPLED;
}

void SamplerFeed::Forward(uint16_t type, std::string_view payload) {
  if (type == FRAME_SAMPLER_READY) {
    SamplerReady message;
    if (message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      ready_(message);
    }
  } else if (type == FRAME_SAMPLER_WINDOW) {
    SamplerWindow message;
    if (message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      decided_(message);
    }
  } else if (type >= FRAME_METRIC_SET && type < FRAME_RUN_START) {
    has_samples_ = has_samples_ || type == FRAME_SAMPLES;
    if (type == FRAME_SAMPLER_STATUS) ConsumeStatus(payload);
    sink_(type, payload);
  } else {
    ++refused_frames_;
  }
}

}  // namespace utlz
