#include "tests/unit/merge/job_maker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "collector/gpu_uuid.h"
#include "collector/profile/profile_writer.h"
#include "collector/run/device_table.h"
#include "proto/profile.pb.h"
#include "tests/support/launch_encoder.h"

namespace utlz {
namespace {

constexpr double kTransferNs = 60e3;
constexpr char kAllReduce[] = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
constexpr char kReduceScatter[] = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL";

uint64_t OnHost(uint64_t time_ns, const MadeClock& clock) {
  const double since = static_cast<double>(time_ns - kJobStartNs);
  return time_ns + static_cast<uint64_t>(std::llround(clock.shift_ns + clock.drift * since));
}

}  // namespace

std::vector<RankTrace> MakeJob(const JobOptions& options) {
  std::mt19937_64 random(options.seed);
  std::normal_distribution<double> normal;
  std::vector<RankTrace> ranks(options.ranks);
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    ranks[i].source = 1;
    ranks[i].pid = 1000 + i;
    ranks[i].has_rank = true;
    ranks[i].rank = i;
  }
  double step_begin = 1e6;
  for (size_t step = 0; step < options.steps; ++step) {
    const double length =
        std::max(options.step_ns / 2, options.step_ns + options.step_jitter_ns * normal(random));
    for (size_t i = 0; i < options.collectives_per_step; ++i) {
      const double place =
          (static_cast<double>(i) + 1) / static_cast<double>(options.collectives_per_step + 1);
      const double due = step_begin + length * place;
      std::vector<double> begins;
      for (size_t rank = 0; rank < ranks.size(); ++rank) {
        const double late = rank < options.late_ns.size() ? options.late_ns[rank] : 0;
        begins.push_back(due + late + std::abs(options.arrival_jitter_ns * normal(random)));
      }
      const double done = *std::max_element(begins.begin(), begins.end()) + kTransferNs;
      for (size_t rank = 0; rank < ranks.size(); ++rank) {
        const double end = done + std::abs(options.end_scatter_ns * normal(random));
        ranks[rank].collectives.push_back({kJobStartNs + static_cast<uint64_t>(begins[rank]),
                                           kJobStartNs + static_cast<uint64_t>(end),
                                           static_cast<uint32_t>(i % 2)});
      }
    }
    step_begin += length;
  }
  return ranks;
}

RankTrace OnClock(const RankTrace& trace, const MadeClock& clock) {
  RankTrace moved = trace;
  for (Collective& one : moved.collectives) {
    one.start_ns = OnHost(one.start_ns, clock);
    one.end_ns = OnHost(one.end_ns, clock);
  }
  return moved;
}

namespace {

class RankProfile {
 public:
  explicit RankProfile(const std::string& path) : writer_(ProfileWriter::Open(path)) {
    EXPECT_TRUE(writer_.ok()) << writer_.status().ToString();
  }
  template <typename Message>
  void Append(uint32_t source, FrameType type, const Message& message) {
    EXPECT_TRUE(
        writer_->Append(source, static_cast<uint16_t>(type), message.SerializeAsString()).ok());
  }
  void Finish() { EXPECT_TRUE(writer_->Finish().ok()); }

 private:
  absl::StatusOr<ProfileWriter> writer_;
};

Variants ThreeVariants() {
  Variants variants;
  for (uint32_t name = 1; name <= 3; ++name) {
    variants.add_name(name);
    for (auto* column :
         {variants.mutable_grid_x(), variants.mutable_grid_y(), variants.mutable_grid_z(),
          variants.mutable_block_x(), variants.mutable_block_y(), variants.mutable_block_z()}) {
      column->Add(1);
    }
  }
  return variants;
}

void AppendIdentity(const std::string& host, const RankTrace& trace, const MadeClock& clock,
                    RankProfile* profile) {
  RunStart start;
  start.set_time_ns(OnHost(kJobStartNs, clock));
  start.add_command("train.py");
  start.set_host(host);
  profile->Append(0, FRAME_RUN_START, start);
  Process process;
  process.set_pid(trace.pid);
  process.set_start_time_ns(OnHost(kJobStartNs, clock));
  process.set_rank(trace.rank);
  profile->Append(1, FRAME_PROCESS, process);
  Device device;
  device.set_uuid(std::string(16, static_cast<char>('A' + trace.rank)));
  profile->Append(1, FRAME_DEVICE, device);
  DeviceCeilings ceilings;
  ceilings.set_uuid(FormatGpuUuid(device.uuid()));
  ceilings.set_time_ns(kCeilingsTimeNs);
  ceilings.set_copy_bytes_per_second(4e12);
  profile->Append(0, FRAME_DEVICE_CEILINGS, ceilings);
  Context context;
  context.set_id(1);
  profile->Append(1, FRAME_CONTEXT, context);
  Strings strings;
  strings.set_first(1);
  strings.add_values(kAllReduce);
  strings.add_values(kReduceScatter);
  strings.add_values("gemm");
  profile->Append(1, FRAME_STRINGS, strings);
  profile->Append(1, FRAME_VARIANTS, ThreeVariants());
  constexpr auto kOfAnotherRelease = static_cast<FrameType>(2);  // such a frame is skipped
  profile->Append(1, kOfAnotherRelease, context);
}

}  // namespace

void WriteRankProfile(const std::string& path, const std::string& host, const RankTrace& trace,
                      const MadeClock& clock) {
  RankProfile profile(path);
  AppendIdentity(host, trace, clock, &profile);
  const RankTrace moved = OnClock(trace, clock);
  constexpr size_t kBatch = 32;
  for (size_t begin = 0; begin < moved.collectives.size(); begin += kBatch) {
    DecodedLaunches decoded;
    for (size_t i = begin; i < std::min(begin + kBatch, moved.collectives.size()); ++i) {
      const Collective& one = moved.collectives[i];
      decoded.launches.push_back({one.start_ns - 40'000, one.start_ns - 1'000, 2, 0});
      decoded.launches.push_back({one.start_ns, one.end_ns, one.name, 0});
    }
    decoded.segments.push_back({static_cast<uint32_t>(decoded.launches.size()), 7, 1, 0});
    profile.Append(1, FRAME_LAUNCHES, EncodeLaunches(decoded));
  }
  ProcessEnd process_end;
  process_end.set_how("exit");
  profile.Append(1, FRAME_PROCESS_END, process_end);
  RunEnd end;
  end.set_time_ns(moved.collectives.back().end_ns + 1'000'000);
  end.set_exit_status(0);
  profile.Append(0, FRAME_RUN_END, end);
  profile.Finish();
}

}  // namespace utlz
