#include "bench/diagnosis/run_writer.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "bench/diagnosis/agent_writer.h"
#include "bench/diagnosis/recording_windows.h"
#include "bench/diagnosis/sampler_writer.h"
#include "collector/profile/profile_writer.h"

namespace utlz {
namespace {

// How much of the run a frame holds.
constexpr uint64_t kSliceNs = 250'000'000;
constexpr uint64_t kExitNs = 200'000'000;

std::string UuidOf(const PlannedRun& run, uint32_t index) {
  std::string uuid = run.device.uuid();
  uuid.resize(16, 'G');
  uuid[15] = static_cast<char>(run.one_gpu ? 0 : index);
  return uuid;
}

// Of one rank: its agent, and the sampler of its GPU. Of ranks that share a GPU, the first one's
// sampler counts for all.
class RankWriter {
 public:
  RankWriter(const PlannedRun& run, uint32_t index, const RunWriterOptions& options,
             ProfileWriter* writer)
      : RankWriter(run, index, UuidOf(run, index),
                   options.everything
                       ? WholeRun(run.end_ns)
                       : WindowsOf(run.ranks[run.one_process ? 0 : index], run.end_ns),
                   writer) {}

  void Announce() {
    if (sampler_.has_value()) sampler_->AnnounceDevice();
    agent_.Announce();
    if (sampler_.has_value()) sampler_->AnnounceCounters();
  }
  void WriteUntil(uint64_t time_ns) {
    agent_.WriteUntil(time_ns);
    if (sampler_.has_value()) sampler_->WriteUntil(time_ns);
    agent_.WriteStatus(time_ns);
  }
  void End() { agent_.End(); }

 private:
  RankWriter(const PlannedRun& run, uint32_t index, const std::string& uuid,
             const RecordingWindows& windows, ProfileWriter* writer)
      : agent_(run, index, uuid, windows.traced, writer) {
    if (index == 0 || !run.one_gpu) sampler_.emplace(run, index, uuid, windows.sampled, writer);
  }

  AgentWriter agent_;
  std::optional<SamplerWriter> sampler_;
};

}  // namespace

absl::Status WritePlannedRun(const PlannedRun& run, const std::string& path,
                             const RunWriterOptions& options) {
  absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(path);
  if (!writer.ok()) return writer.status();
  RunStart start;
  start.set_time_ns(kPlannedRunStartNs);
  start.add_command("generated load, no measurement");
  start.set_host("generated");
  start.set_overhead_budget_ppm(10'000);
  start.set_counters("auto");
  if (run.workload_spec.flops_per_step() > 0) *start.mutable_workload_spec() = run.workload_spec;
  (void)writer->Append(0, FRAME_RUN_START, start.SerializeAsString());
  std::vector<RankWriter> ranks;
  for (uint32_t i = 0; i < run.ranks.size(); ++i) ranks.emplace_back(run, i, options, &*writer);
  for (RankWriter& rank : ranks) rank.Announce();
  const uint64_t end_ns = run.end_ns + kExitNs;
  for (uint64_t now = 0; now < end_ns;) {
    now = std::min(end_ns, now + kSliceNs);
    for (RankWriter& rank : ranks) rank.WriteUntil(now);
  }
  for (RankWriter& rank : ranks) rank.End();
  RunEnd end;
  end.set_time_ns(kPlannedRunStartNs + end_ns);
  end.set_exit_status(0);
  (void)writer->Append(0, FRAME_RUN_END, end.SerializeAsString());
  // Fails for good once an earlier frame could not be written.
  return writer->Finish();
}

}  // namespace utlz
