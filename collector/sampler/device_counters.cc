#include "collector/sampler/device_counters.h"

#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/sampler/sharing/sampler_socket.h"

namespace utlz {
namespace {

// If a sample lasts as long as a part of what the program repeats, no sample sees what differs
// within that part; samples of another length do. So the sets have intervals of different length,
// in a ratio that keeps both from falling into step with one period.
constexpr uint64_t kLongerIntervalParts = 23;
constexpr uint64_t kIntervalParts = 20;

// If the hardware says that the counters are in use: adds whose sampler has them, as far as that
// can be found out.
absl::Status NameHolder(const absl::Status& status, const std::string& uuid) {
  if (!absl::IsUnavailable(status) && !absl::IsFailedPrecondition(status)) return status;
  const std::optional<SamplerPeer> holder = SamplerOfAnotherUser(uuid);
  if (!holder) return status;
  return absl::UnavailableError(
      absl::StrCat("the counters are held by another utlz, of user ", holder->user,
                   holder->pid != 0 ? absl::StrCat(" (sampler process ", holder->pid, ")") : ""));
}

}  // namespace

DeviceCounters::DeviceCounters(const CuptiTable& table, const CudaDevice& device,
                               const DeviceCountersOptions& options, FrameSink sink)
    : table_(table), device_(device), options_(options), sink_(std::move(sink)) {}

absl::Status DeviceCounters::Take() {
  if (!lease_.has_value()) {
    if (absl::Status status = TakeLease(); !status.ok()) return status;
  }
  if (sampler_ == nullptr) {
    absl::StatusOr<std::unique_ptr<PmSampler>> sampler =
        PmSampler::Create(table_, options_.sampler);
    if (!sampler.ok()) return sampler.status();
    sampler_ = *std::move(sampler);
    chip_ = sampler_->chip();
  }
  return sets_.empty() ? SelectSets() : absl::OkStatus();
}

// A lock file that cannot be used is no reason to do without counters: the hardware itself serves
// one profiler only.
absl::Status DeviceCounters::TakeLease() {
  absl::StatusOr<DeviceLease> lease = DeviceLease::Take(options_.lease_folder, device_.uuid);
  leased_elsewhere_ = absl::IsUnavailable(lease.status());
  if (lease.ok()) lease_ = *std::move(lease);
  return leased_elsewhere_ ? lease.status() : absl::OkStatus();
}

absl::Status DeviceCounters::SelectSets() {
  const PassCounter passes = CuptiPassCounter(table_, chip_, sampler_->availability());
  absl::StatusOr<SelectedMetrics> base = SelectMetrics(BaseRoles(), passes);
  if (!base.ok()) return base.status();
  absl::StatusOr<SelectedMetrics> extended = SelectMetrics(ExtendedRoles(), passes);
  absl::StatusOr<SelectedMetrics> instructions = SelectMetrics(InstructionRoles(), passes);
  const size_t base_metrics = base->size();
  AddSet(SampledSet::kBase, *std::move(base), options_.interval_ns);
  const uint64_t longer_ns = options_.interval_ns / kIntervalParts * kLongerIntervalParts;
  if (extended.ok() && extended->size() > base_metrics) {
    AddSet(SampledSet::kExtended, *std::move(extended), longer_ns);
  }
  if (instructions.ok()) AddSet(SampledSet::kInstructions, *std::move(instructions), longer_ns);
  return absl::OkStatus();
}

void DeviceCounters::AddSet(SampledSet set, SelectedMetrics metrics, uint64_t interval_ns) {
  places_[set] = sets_.size();
  sets_.emplace_back(device_, std::move(metrics), interval_ns);
}

size_t DeviceCounters::PlaceOf(SampledSet set) const {
  const auto place = places_.find(set);
  return place == places_.end() ? 0 : place->second;
}

bool DeviceCounters::IsConfigured(SampledSet set) const {
  return sampler_->configured() && configured_ == PlaceOf(set);
}

absl::Status DeviceCounters::ConfigureOnce(SampledSet set) {
  return IsConfigured(set) ? absl::OkStatus() : Configure(PlaceOf(set));
}

// Programs that launch kernels meanwhile may wait for the driver, so the run records when this was.
absl::Status DeviceCounters::Configure(size_t place) {
  configured_.reset();
  CounterSetting setting;
  setting.set_device_uuid(device_.uuid);
  setting.set_start_ns(RealtimeNs());
  const absl::Status status =
      sampler_->Configure(sets_[place].metrics(), sets_[place].interval_ns());
  if (!status.ok()) return status;
  setting.set_end_ns(RealtimeNs());
  sink_(FRAME_COUNTER_SETTING, setting);
  ++settings_;
  longest_window_ns_ = sampler_->longest_window_ns();
  configured_ = place;
  return absl::OkStatus();
}

absl::Status DeviceCounters::Start() {
  absl::Status status = sampler_->Start();
  if (status.ok()) sets_[*configured_].StartWindow();
  return status;
}

void DeviceCounters::Stop() { stopped_ = sampler_->Stop(); }

DeviceCounters::Window DeviceCounters::Read() {
  MetricSetSamples* set = &sets_[*configured_];
  WindowActivity activity(set->metrics());
  const auto take = [&](uint64_t start_ns, uint64_t end_ns, std::span<const double> values) {
    set->Announce(*sampler_, sink_);
    set->Add(start_ns, end_ns, values, sink_);
    activity.Add(end_ns - start_ns, values);
  };
  absl::StatusOr<WindowResult> result =
      stopped_.ok() ? sampler_->Read(take) : absl::StatusOr<WindowResult>(stopped_);
  set->EndWindow(result.ok() ? result->lost : 0, sink_);
  return {set->interval_ns(), activity, std::move(result)};
}

void DeviceCounters::Disable() {
  if (sampler_ != nullptr) sampler_->Disable();
  configured_.reset();
}

SourceReason DeviceCounters::Explain(const absl::Status& failure) const {
  return ExplainCounterFailure(leased_elsewhere_ ? failure : NameHolder(failure, device_.uuid));
}

void DeviceCounters::SendDescriptions(const FrameSink& sink) const {
  for (const MetricSetSamples& set : sets_) set.SendDescriptions(sink);
}

}  // namespace utlz
