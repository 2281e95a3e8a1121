#include "collector/live/live_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "collector/live/live_message.h"
#include "collector/profile/profile_reader.h"
#include "collector/run/run_intake.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

void SendLaunches(RunBuilder* run, uint64_t begin_ms, uint32_t kernel) {
  std::vector<Launch> launches;
  for (uint64_t i = 0; i < 50; ++i) {
    launches.push_back(
        RunBuilder::LaunchAt((begin_ms + 10 * i) * kMillisecondNs, kMillisecondNs, kernel));
  }
  run->SendLaunches(launches);
}

TEST(LiveReport, BeforeAnythingCame) {
  RunIntake intake;
  LiveReport report;
  report.RenewWhatIsDue(intake.Advance(), 0);
  const LiveSnapshot snapshot = report.Take(intake.Advance(), 9);
  EXPECT_EQ(snapshot.time_ns(), 9u);
  EXPECT_EQ(snapshot.devices_size() + snapshot.processes_size() + snapshot.kernels_size(), 0);
  EXPECT_FALSE(snapshot.has_step_seconds());
  EXPECT_TRUE(CheckLive(snapshot).ok());
}

TEST(LiveReport, UnknownIsAbsent) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"_Z4gemmPfPKfS1_i", "_Z3addPfPKfi"});
  SendLaunches(&run, 0, 0);
  LiveReport report;
  const LiveSnapshot snapshot = report.Take(run.intake().Advance(), 1);
  EXPECT_EQ(snapshot.command(), "python train.py");
  ASSERT_EQ(snapshot.devices_size(), 1);
  EXPECT_FALSE(snapshot.devices(0).has_hfu());
  EXPECT_FALSE(snapshot.devices(0).has_attained_compute_share());
  ASSERT_EQ(snapshot.processes_size(), 1);
  EXPECT_FALSE(snapshot.processes(0).has_hfu());
  ASSERT_EQ(snapshot.kernels_size(), 1);
  EXPECT_EQ(snapshot.kernels(0).name(), "gemm");
  EXPECT_FALSE(snapshot.kernels(0).has_roof_share());
  EXPECT_EQ(snapshot.kernels(0).mean_time_ns(), kMillisecondNs);
}

TEST(LiveReport, KernelsAreThoseOfTheLastSeconds) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"_Z4gemmPfPKfS1_i", "_Z3addPfPKfi"});
  SendLaunches(&run, 0, 0);
  LiveReport report;
  EXPECT_EQ(report.Take(run.intake().Advance(), 1).kernels(0).name(), "gemm");
  // Twice as long as is looked back: gemm is forgotten.
  for (uint64_t second = 1; second < 40; ++second) {
    SendLaunches(&run, 1000 * second, 1);
    report.Take(run.intake().Advance(), 1);
  }
  const LiveSnapshot snapshot = report.Take(run.intake().Advance(), 1);
  ASSERT_EQ(snapshot.kernels_size(), 1);
  EXPECT_EQ(snapshot.kernels(0).name(), "add");
  EXPECT_EQ(snapshot.kernels(0).time_share(), 1);
}

// Processor time of which each renewal takes so much; it is asked before and after.
class CostlyClock {
 public:
  explicit CostlyClock(uint64_t cost_ns) : cost_ns_(cost_ns) {}

  uint64_t Ask() {
    if (times_++ % 2 == 1) now_ns_ += cost_ns_;
    return now_ns_;
  }
  int renewals() const { return times_ / 2; }

 private:
  uint64_t cost_ns_;
  uint64_t now_ns_ = 0;
  int times_ = 0;
};

TEST(LiveReport, AnalysesAreAsSeldomAsTheyAreCostly) {
  constexpr uint64_t kCostNs = 400'000'000;
  constexpr uint64_t kSeconds = 10'000;
  CostlyClock clock(kCostNs);
  LiveReport report([&clock] { return clock.Ask(); });
  RunIntake intake;
  for (uint64_t second = 1; second <= kSeconds; ++second) {
    report.RenewWhatIsDue(intake.Advance(), second * kSecondNs);
  }
  // What launches are worth and steps have an account each, and a beginning of their own.
  const double share = (clock.renewals() * static_cast<double>(kCostNs) -
                        2 * (RenewalPace::kMostSavedNs + kCostNs)) /
                       (kSeconds * 1e9);
  EXPECT_LE(share, 2 * RenewalPace::kShare);
  EXPECT_GE(share, RenewalPace::kShare);
}

TEST(LiveReport, WhatIsNewShowsBeforeTheNextAnalysis) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"_Z4gemmPfPKfS1_i", "_Z3addPfPKfi"});
  SendLaunches(&run, 0, 0);
  CostlyClock clock(1'000'000 * kSecondNs);
  LiveReport report([&clock] { return clock.Ask(); });
  LiveSnapshot snapshot;
  for (uint64_t second = 1; second < 40; ++second) {
    report.RenewWhatIsDue(run.intake().Advance(), second * kSecondNs);
    snapshot = report.Take(run.intake().Advance(), 1);
    SendLaunches(&run, 1000 * second, 1);
  }
  EXPECT_EQ(clock.renewals(), 2) << "one of each";
  ASSERT_EQ(snapshot.kernels_size(), 1);
  EXPECT_EQ(snapshot.kernels(0).name(), "add");
  EXPECT_EQ(snapshot.kernels(0).bound(), BOUND_UNKNOWN);
  ASSERT_EQ(snapshot.devices_size(), 1);
  // 50 launches of a millisecond each second; the first half a second of each is seen to its end.
  EXPECT_NEAR(snapshot.devices(0).busy(), 0.05, 0.02);
}

// A kernel is seen, then none for ten seconds, then one after the other.
TEST(LiveReport, CausesAreThoseOfTheLastSeconds) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"_Z4gemmPfPKfS1_i"});
  LiveReport report;
  LiveSnapshot snapshot;
  for (uint64_t second = 0; second < 25; ++second) {
    AgentStatus status;
    status.set_time_ns(kRunStartNs + second * kSecondNs);
    run.Send(1, FRAME_AGENT_STATUS, status);
    if (second == 0 || second >= 10) {
      run.SendLaunches({RunBuilder::LaunchAt(second * kSecondNs, kSecondNs)});
    }
    snapshot = report.Take(run.intake().Advance(), 1);
  }
  ASSERT_EQ(snapshot.devices_size(), 1);
  // Known up to second 22, and looked at from second 6 on.
  EXPECT_NEAR(snapshot.devices(0).busy(), 0.75, 0.01);
  double idle_share = 0;
  for (const LiveCause& cause : snapshot.devices(0).causes()) {
    if (cause.name().starts_with("idle")) idle_share += cause.share();
  }
  EXPECT_NEAR(idle_share, 1 - snapshot.devices(0).busy(), 1e-6);
}

// As each rank of a job does.
void SeesAnotherGpu(uint32_t source, RunIntake* intake) {
  Device device;
  device.set_ordinal(1);
  device.set_uuid(RunBuilder::Uuid('Z'));
  intake->Consume(source, FRAME_DEVICE, device.SerializeAsString());
}

// A recorded run, as it came.
TEST(LiveReport, OfARecordingAgreesWithItsReport) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(UTLZ_RECORDING);
  ASSERT_TRUE(reader.ok()) << reader.status();
  RunIntake intake;
  // However slow this machine is, no analysis is too dear.
  LiveReport report([] { return uint64_t{0}; });
  uint64_t next_ns = 0;
  double highest_hfu = 0;
  std::vector<double> step_seconds;
  bool has_causes = false;
  for (FrameView frame; reader->Next(&frame);) {
    if (frame.type == FRAME_SUMMARY) continue;
    intake.Consume(frame.source, frame.type, frame.payload);
    if (frame.type == FRAME_DEVICE) SeesAnotherGpu(frame.source, &intake);
    const uint64_t now_ns = intake.state().NewestNs();
    if (now_ns < next_ns) continue;
    next_ns = now_ns + kSecondNs;
    report.RenewWhatIsDue(intake.Advance(), now_ns);
    const LiveSnapshot snapshot = report.Take(intake.Advance(), now_ns);
    ASSERT_TRUE(CheckLive(snapshot).ok()) << CheckLive(snapshot);
    ASSERT_FALSE(EncodeLive(snapshot).empty());
    for (const LiveDevice& device : snapshot.devices()) {
      highest_hfu = std::max(highest_hfu, device.hfu());
      // What a process and its GPU do is nearly the same, from the first number on.
      if (device.has_hfu() && snapshot.processes(0).has_hfu()) {
        EXPECT_NEAR(device.hfu(), snapshot.processes(0).hfu(), 0.05);
      }
      if (snapshot.processes(0).live()) {
        EXPECT_EQ(snapshot.processes(0).step_seconds(), snapshot.step_seconds());
      }
      double sum = 0;
      for (const LiveCause& cause : device.causes()) sum += cause.share();
      if (device.causes_size() > 0) {
        EXPECT_NEAR(sum, 1, 1e-6);
        has_causes = true;
      }
    }
    if (snapshot.has_step_seconds()) step_seconds.push_back(snapshot.step_seconds());
  }
  const Summary summary = Summarize(intake.Advance());
  EXPECT_TRUE(has_causes);
  EXPECT_NEAR(highest_hfu / summary.devices(0).hfu(), 1, 0.2);
  ASSERT_FALSE(step_seconds.empty());
  for (const double seconds : step_seconds) {
    EXPECT_NEAR(seconds / (summary.steps().time_mean_ns() / 1e9), 1, 0.03);
  }
}

}  // namespace
}  // namespace utlz
