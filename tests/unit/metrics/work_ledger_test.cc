#include "collector/metrics/work_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using ::testing::DoubleEq;
using ::testing::Optional;

constexpr char kGemm[] = "_Z4gemmPfPKfS1_i";

// A process whose kernel runs for a millisecond a launch, analysed as the test says.
class WorkLedgerTest : public testing::Test {
 protected:
  void SetUp() override {
    run_.StartRun();
    StartProcess(1);
  }

  void StartProcess(uint32_t source) {
    run_.StartProcess(source);
    run_.SendKernels({kGemm}, source);
  }

  void Launch(int times, uint32_t source = 1) {
    std::vector<utlz::Launch> launches;
    for (int i = 0; i < times; ++i) {
      launches.push_back(RunBuilder::LaunchAt(next_ns_, kMillisecondNs));
      next_ns_ += 2 * kMillisecondNs;
    }
    run_.SendLaunches(launches, source);
  }

  // Each launch does so many FLOPs and reads so many bytes; nothing is known without.
  void Update(std::optional<double> flops, std::optional<double> read_bytes) {
    const RunState& state = run_.intake().Advance();
    Analysis analysis;
    analysis.devices.resize(state.devices.size());
    analysis.devices[0].ceilings.clock_hz = 1e9;
    analysis.devices[0].ceilings.flops_per_cycle = {{"bf16", 1000}};
    for (uint32_t i = 0; i < state.kernels.kernels().size(); ++i) {
      KernelRow row;
      row.kernel = i;
      for (const KernelShare& share : state.kernels[i].shares) {
        row.launches += static_cast<double>(share.launches);
        row.time_ns += static_cast<double>(share.time_ns);
      }
      row.roofline.time_ns = row.time_ns;
      if (flops.has_value()) {
        TypedFlops typed;
        typed.data_type = "bf16";
        typed.flops = *flops;
        row.work.flops.push_back(typed);
        row.roofline.compute_time_ns = row.launches * *flops / 1e12 * 1e9;
      }
      if (read_bytes.has_value()) {
        row.work.read_bytes = CounterPerLaunch{.value = *read_bytes};
        row.roofline.memory_time_ns = 0;
      }
      analysis.rows.push_back(row);
    }
    worths_.Renew(state, analysis);
    ledger_.Update(state, worths_);
  }

  const WorkSum& Sum(uint32_t source = 1) { return ledger_.sums().at({0, source}); }
  const FamilyWork& Gemm(uint32_t source = 1) {
    return Sum(source).families[static_cast<size_t>(KernelFamily::kGemm)];
  }

  RunBuilder run_;
  WorthTable worths_;
  WorkLedger ledger_;
  uint64_t next_ns_ = 1'000'000'000;
};

TEST_F(WorkLedgerTest, CountsLaunchesTimeAndWork) {
  Launch(10);
  Update(5e8, 100);
  EXPECT_EQ(Gemm().launches, 10);
  EXPECT_EQ(Gemm().time_ns, 10 * kMillisecondNs);
  EXPECT_DOUBLE_EQ(Sum().flops.at("bf16"), 5e9);
  EXPECT_THAT(Sum().read_bytes, Optional(DoubleEq(1000)));
  EXPECT_FALSE(Sum().write_bytes.has_value()) << "nobody counted it";
  EXPECT_THAT(Sum().peak_ns, Optional(DoubleEq(5e6)));
  EXPECT_THAT(Gemm().savings_ns, Optional(DoubleEq(5e6)));
  EXPECT_EQ(Sum().flops_uncounted_ns, 0);
}

TEST_F(WorkLedgerTest, LaterEstimatesChangeLaterLaunchesAlone) {
  Launch(10);
  Update(5e8, 100);
  Update(1e8, 10);
  EXPECT_DOUBLE_EQ(Sum().flops.at("bf16"), 5e9);
  Launch(10);
  Update(1e8, 10);
  EXPECT_DOUBLE_EQ(Sum().flops.at("bf16"), 6e9);
  EXPECT_THAT(Sum().read_bytes, Optional(DoubleEq(1100)));
}

TEST_F(WorkLedgerTest, LaunchesWaitForCounters) {
  Launch(10);
  Update(std::nullopt, std::nullopt);
  EXPECT_EQ(Gemm().launches, 10);
  EXPECT_TRUE(Sum().flops.empty()) << "unknown is absent";
  EXPECT_EQ(Sum().flops_uncounted_ns, 0) << "counters may still come";
  Launch(10);
  Update(5e8, 100);
  EXPECT_DOUBLE_EQ(Sum().flops.at("bf16"), 1e10);
  EXPECT_DOUBLE_EQ(ledger_.devices()[0].peak_ns, 5e6) << "what waited is not of now";
}

TEST_F(WorkLedgerTest, FlopsCountWhereBytesAreNotKnown) {
  Launch(10);
  Update(5e8, std::nullopt);
  next_ns_ += 2 * WorkLedger::kPatienceNs;
  Launch(10);
  Update(5e8, std::nullopt);
  EXPECT_DOUBLE_EQ(Sum().flops.at("bf16"), 1e10);
  EXPECT_EQ(Sum().flops_uncounted_ns, 0);
  EXPECT_FALSE(Sum().read_bytes.has_value());
  EXPECT_EQ(Sum().bytes_uncounted_ns, 20.0 * kMillisecondNs);
}

TEST_F(WorkLedgerTest, LaunchesDoNotWaitForEver) {
  Launch(10);
  Update(std::nullopt, std::nullopt);
  next_ns_ += 2 * WorkLedger::kPatienceNs;
  Launch(10);
  Update(std::nullopt, std::nullopt);
  EXPECT_EQ(Sum().flops_uncounted_ns, 20.0 * kMillisecondNs);
  Launch(1);
  Update(5e8, 100);
  EXPECT_DOUBLE_EQ(Sum().flops.at("bf16"), 5e8) << "what was given up stays so";
}

TEST_F(WorkLedgerTest, LaunchesWaitForTheNextRenewal) {
  Launch(1);
  Update(5e8, 100);
  run_.SendKernels({"_Z3newPf"}, 1, 132, 0, 1);
  run_.SendLaunches({RunBuilder::LaunchAt(next_ns_, kMillisecondNs, 1)});
  next_ns_ += 2 * kMillisecondNs;
  ledger_.Update(run_.intake().Advance(), worths_);
  next_ns_ += 2 * WorkLedger::kPatienceNs;
  Launch(1);
  ledger_.Update(run_.intake().Advance(), worths_);
  EXPECT_EQ(Sum().flops_uncounted_ns, 0) << "nobody has looked since it came";
  Update(5e8, 100);
  EXPECT_DOUBLE_EQ(Sum().flops.at("bf16"), 15e8);
}

TEST_F(WorkLedgerTest, ProcessesBeyondTheCapAreOne) {
  constexpr auto kCap = static_cast<uint32_t>(WorkLedger::kMostPairs);
  const auto start = [this](uint32_t first, uint32_t last) {
    for (uint32_t source = first; source <= last; ++source) {
      StartProcess(source);
      Launch(2, source);
    }
    Update(1e8, 1);
  };
  start(2, kCap + 1);
  start(kCap + 2, kCap + 20);
  EXPECT_EQ(ledger_.sums().size(), WorkLedger::kMostPairs + 1);
  EXPECT_DOUBLE_EQ(Sum(2).flops.at("bf16"), 2e8);
  EXPECT_DOUBLE_EQ(Sum(WorkLedger::kOthers).flops.at("bf16"), 19 * 2e8);
  Launch(3, kCap + 20);
  Update(1e8, 1);
  EXPECT_DOUBLE_EQ(Sum(WorkLedger::kOthers).flops.at("bf16"), 41e8);
}

TEST_F(WorkLedgerTest, ForgetsProcessesThatEndedLongAgo) {
  StartProcess(2);
  Launch(1);
  Launch(1, 2);
  Update(1e8, 1);
  ProcessEnd end;
  end.set_how("exit");
  end.set_time_ns(kRunStartNs + next_ns_);
  run_.Send(2, FRAME_PROCESS_END, end);
  Update(1e8, 1);
  EXPECT_TRUE(ledger_.sums().contains({0, 2}));
  next_ns_ += 2 * WorkLedger::kKeptNs;
  Launch(1);
  Update(1e8, 1);
  EXPECT_FALSE(ledger_.sums().contains({0, 2}));
  Update(1e8, 1);
  EXPECT_FALSE(ledger_.sums().contains({0, 2})) << "it does not come back";
  EXPECT_DOUBLE_EQ(Sum().flops.at("bf16"), 2e8);
}

}  // namespace
}  // namespace utlz
