#include "bench/sampling/launch_frames.h"

#include "bench/diagnosis/kernel_variant.h"
#include "tests/support/launch_encoder.h"

namespace utlz {
namespace {

constexpr uint32_t kSource = 1;
constexpr uint32_t kTraceFlags = 3;  // kernels and copies
constexpr uint32_t kStream = 7;

}  // namespace

LaunchFrames::LaunchFrames(const RecordedLoad& recorded, RunIntake* intake)
    : recorded_(recorded), intake_(intake), uuid_(recorded.device.uuid()) {
  uuid_.resize(16, 'G');
}

template <typename Message>
void LaunchFrames::Send(FrameType type, const Message& message) {
  const std::string payload = message.SerializeAsString();
  records_.Consume(static_cast<uint16_t>(type), payload);
  intake_->Consume(type == FRAME_RUN_START ? 0 : kSource, static_cast<uint16_t>(type), payload);
}

void LaunchFrames::Begin() {
  RunStart start;
  start.set_time_ns(kSimulationStartNs);
  start.add_command("simulated run, no measurement");
  start.set_overhead_budget_ppm(10'000);
  Send(FRAME_RUN_START, start);
  Process process;
  process.set_pid(1000 + kSource);
  process.set_start_time_ns(kSimulationStartNs);
  process.add_arguments("simulated");
  Send(FRAME_PROCESS, process);
  Device device = recorded_.device;
  device.set_uuid(uuid_);
  device.set_ordinal(0);
  Send(FRAME_DEVICE, device);
  Context context;
  context.set_id(1);
  Send(FRAME_CONTEXT, context);
  SendWindow(0, false);
}

bool LaunchFrames::Ran(const LoadLaunch& launch, const std::vector<RecordedKernel>& kernels,
                       bool traced) {
  ++numbered_;
  if (!traced) return false;
  ++recorded_launches_;
  const auto next = static_cast<uint32_t>(variants_.size());
  const auto [variant, is_new] = variants_.try_emplace(launch.kernel, next);
  if (is_new) Announce(kernels[launch.kernel]);
  pending_.launches.push_back({kSimulationStartNs + launch.start_ns,
                               kSimulationStartNs + launch.end_ns, variant->second, 0});
  return is_new;
}

void LaunchFrames::Announce(const RecordedKernel& kernel) {
  const auto variant = static_cast<uint32_t>(variants_.size()) - 1;
  Strings strings;
  strings.set_first(variant + 1);
  strings.add_values(kernel.name);
  Send(FRAME_STRINGS, strings);
  Variants variants;
  variants.set_first(variant);
  AddVariant(kernel, variant + 1, {}, &variants);
  Send(FRAME_VARIANTS, variants);
}

void LaunchFrames::SendWindow(uint64_t end_ns, bool gap) {
  TraceWindow window;
  window.set_start_ns(kSimulationStartNs + switched_on_ns_);
  window.set_end_ns(end_ns == 0 ? 0 : kSimulationStartNs + end_ns);
  window.set_flags(kTraceFlags);
  if (gap) window.set_gap_reason("the overhead budget");
  Send(FRAME_TRACE_WINDOW, window);
}

void LaunchFrames::Switched(uint64_t now_ns, bool on) {
  HandOver(now_ns);
  if (on) switched_on_ns_ = now_ns;
  SendWindow(on ? 0 : now_ns, on);
}

void LaunchFrames::HandOver(uint64_t now_ns) {
  if (!pending_.launches.empty()) {
    pending_.segments = {{static_cast<uint32_t>(pending_.launches.size()), kStream, 1, 0}};
    Send(FRAME_LAUNCHES, EncodeLaunches(pending_));
    pending_.launches.clear();
  }
  AgentStatus status;
  status.set_time_ns(kSimulationStartNs + now_ns);
  status.set_launches_recorded(recorded_launches_);
  status.set_operations_recorded(recorded_launches_);
  status.set_operations_numbered(numbered_);
  status.set_operations_in_gaps(numbered_ - recorded_launches_);
  status.set_records_state(records_state_);
  status.set_flushed_until_ns(kSimulationStartNs + now_ns);
  Send(FRAME_AGENT_STATUS, status);
}

}  // namespace utlz
