#include "collector/sampler/counter_session.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/sampler/sharing/sampler_socket.h"
#include "proto/sampler.pb.h"
#include "tests/unit/sampler/counter_session_fixture.h"

namespace utlz {
namespace {

TEST_F(CounterSessionTest, SendsASetAndThenItsSamples) {
  Begin();
  Window();
  EXPECT_TRUE(session_->works());
  ASSERT_EQ(sets_.size(), 1u);
  EXPECT_EQ(sets_[0].metric_size(), 5);
  EXPECT_EQ(sets_[0].metric(0).role(), METRIC_DRAM_READ_BYTES);
  EXPECT_EQ(sets_[0].metric(3).peak_per_cycle(), 4 * 132);
  ASSERT_EQ(batches_.size(), 1u);
  EXPECT_EQ(batches_[0].metric_set(), sets_[0].id());
  EXPECT_EQ(batches_[0].samples(), 9u);
  EXPECT_TRUE(batches_[0].window_start());
  EXPECT_EQ(static_cast<double>(batches_[0].column(0).delta(0)) * sets_[0].metric(0).resolution(),
            3200);
  EXPECT_EQ(session_->statistics().samples, 9u);
  EXPECT_EQ(session_->statistics().windows, 1u);
}

TEST_F(CounterSessionTest, ALongWindowIsSentInBatches) {
  fake_.samples_per_window = 10'001;
  options_.schedule.window_ns = 100 * kSecondNs;
  Begin();
  Window();
  ASSERT_EQ(batches_.size(), 3u);
  EXPECT_EQ(batches_[0].samples(), 4096u);
  EXPECT_TRUE(batches_[0].window_start());
  EXPECT_FALSE(batches_[1].window_start());
  EXPECT_EQ(batches_[0].samples() + batches_[1].samples() + batches_[2].samples(), 10'000u);
}

TEST_F(CounterSessionTest, SaysHowManySamplesAreMissing) {
  fake_.gap_after_sample = 4;
  Begin();
  Window();
  ASSERT_EQ(batches_.size(), 1u);
  EXPECT_EQ(batches_[0].lost(), 1u);
  EXPECT_EQ(session_->statistics().lost, 1u);
}

TEST_F(CounterSessionTest, TakesTheExtendedSetNowAndThen) {
  Begin();
  for (int i = 0; i < 40; ++i) Window();
  ASSERT_EQ(sets_.size(), 2u);
  EXPECT_EQ(sets_[1].metric_size(), 6);
  EXPECT_NE(sets_[0].id(), sets_[1].id());
  EXPECT_EQ(sets_[0].interval_ns(), 10'000u);
  EXPECT_EQ(sets_[1].interval_ns(), 11'500u) << "or loads in step with one are so with both";
  int extended_batches = 0;
  for (const SampleBatch& batch : batches_) {
    extended_batches += batch.metric_set() == sets_[1].id() ? 1 : 0;
    EXPECT_EQ(batch.column_size(), batch.metric_set() == sets_[1].id() ? 6 : 5);
  }
  EXPECT_EQ(batches_.size(), 40u);
  EXPECT_EQ(extended_batches, 4);
  EXPECT_EQ(settings_.size(), 3u) << "at the start, to the extended set, and back";
  for (const CounterSetting& setting : settings_) {
    EXPECT_EQ(setting.device_uuid(), device_.uuid);
    EXPECT_LE(setting.start_ns(), setting.end_ns());
    EXPECT_GT(setting.start_ns(), 0u);
  }
}

// A program that copies between host and device most of the time launches kernels in between.
TEST_F(CounterSessionTest, AGpuThatOnlyCopiesIsNotIdle) {
  // Of real time, in which windows cost nothing: what the schedule adds to the end of one.
  const auto pause_ns = [this](double read_bytes_per_sample, double write_bytes_per_sample) {
    fake_.metrics.at("dram__bytes_read.sum") = read_bytes_per_sample;
    fake_.metrics.at("dram__bytes_write.sum") = write_bytes_per_sample;
    Window();
    const uint64_t ended_ns = MonotonicNs();
    return session_->next_step_ns() - std::min(ended_ns, session_->next_step_ns());
  };
  fake_.metrics.at("TPC.TriageCompute.sm__cycles_active.sum") = 0;
  options_.schedule.cpu_budget_ppm = 50'000;
  options_.schedule.cpu_burst_ns = options_.schedule.duty_burst_ns = UINT64_MAX / 4;
  options_.schedule.idle_pause_ns = 3600 * kSecondNs;
  Begin();
  const double interval_ns = static_cast<double>(options_.interval_ns);
  const uint64_t most_ns = 60 * kSecondNs;
  EXPECT_LT(pause_ns(0, 50 * interval_ns), most_ns);
  EXPECT_GT(pause_ns(0, 0.01 * interval_ns), most_ns);
  EXPECT_LT(pause_ns(50 * interval_ns, 0), most_ns);
  EXPECT_EQ(session_->statistics().busy_ns, 0) << "nor does it say at which clock kernels run";
  // Of the whole window, not of one sample: 2 bytes a nanosecond are too many for an idle GPU.
  EXPECT_GT(pause_ns(0.9 * interval_ns, 0.9 * interval_ns), most_ns);
  EXPECT_LT(pause_ns(1.1 * interval_ns, 1.1 * interval_ns), most_ns);
}

// Whether it is busy is told by two thousandths of the cycles of all multiprocessors in the window.
TEST_F(CounterSessionTest, AWindowWithLittleWorkIsNotBusy) {
  Begin();
  Window();
  const CounterStatistics first = session_->statistics();
  EXPECT_DOUBLE_EQ(first.busy_cycles, 17'000 * static_cast<double>(first.samples));
  const double cycles_per_ns = first.busy_cycles / first.busy_ns;
  double& active_cycles = fake_.metrics.at("TPC.TriageCompute.sm__cycles_active.sum");
  active_cycles = 0.9 * 0.002 * 17'000 * device_.multiprocessors;
  Window();
  EXPECT_EQ(session_->statistics().busy_cycles, first.busy_cycles);
  EXPECT_EQ(session_->statistics().busy_ns, first.busy_ns);
  active_cycles = 1.1 * 0.002 * 17'000 * device_.multiprocessors;
  Window();
  EXPECT_GT(session_->statistics().busy_cycles, first.busy_cycles);
  EXPECT_NEAR(session_->statistics().busy_cycles / session_->statistics().busy_ns, cycles_per_ns,
              1e-9 * cycles_per_ns);
}

TEST_F(CounterSessionTest, WithoutACounterOfWorkEveryWindowMayHoldSome) {
  fake_.metrics.erase("TPC.TriageCompute.sm__cycles_active.sum");
  fake_.metrics.at("dram__bytes_read.sum") = fake_.metrics.at("dram__bytes_write.sum") = 0;
  Begin();
  Window();
  EXPECT_GT(session_->statistics().windows, 0u);
  EXPECT_GT(session_->statistics().busy_ns, 0);
}

TEST_F(CounterSessionTest, AWindowWithoutSamplesIsAFailure) {
  fake_.samples_per_window = 0;
  options_.interval_ns = 1;
  Begin();
  Window();
  EXPECT_FALSE(session_->works());
  EXPECT_NE(session_->reason().reason.find("no samples"), std::string::npos);
  // It is tried again, ever more seldom.
  const uint64_t first_pause_ns = session_->next_step_ns() - now_ns_;
  Window();
  EXPECT_GE(session_->next_step_ns() - now_ns_, 2 * first_pause_ns);
}

TEST_F(CounterSessionTest, TriesAgainWhileAnotherProfilerHasTheCounters) {
  fake_.enable_result = cupti::kHardwareBusy;
  Begin();
  StepWhenDue();
  EXPECT_FALSE(session_->works());
  EXPECT_NE(session_->reason().reason.find("another profiler"), std::string::npos);
  EXPECT_NE(session_->reason().remedy.find("dcgmi"), std::string::npos);
  const uint64_t first_retry_ns = session_->next_step_ns();
  EXPECT_GE(first_retry_ns, now_ns_ + kSecondNs);
  StepWhenDue();
  EXPECT_GE(session_->next_step_ns() - now_ns_, 2 * kSecondNs);
  fake_.enable_result = 0;
  StepWhenDue();
  EXPECT_TRUE(session_->works());
  EXPECT_EQ(session_->reason(), SourceReason{});
}

TEST_F(CounterSessionTest, NamesAnotherUsersSamplerOnceTheHardwareIsBusy) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  constexpr uid_t kBob = 1001;
  device_.uuid = std::to_string(getpid()) + "+" + std::to_string(MonotonicNs());
  device_.uuid.resize(16, '.');
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t other = fork();
  if (other == 0) {
    const bool listens = setuid(kBob) == 0;
    const absl::StatusOr<UniqueFd> listener = ListenForSubscribers(device_.uuid);
    if (!listens || !listener.ok() || write(ready[1], "x", 1) != 1) _exit(1);
    while (true) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  Begin();
  StepWhenDue();
  EXPECT_TRUE(session_->works()) << "who listens has no counters by that";
  session_.reset();
  fake_.enable_result = cupti::kHardwareBusy;
  Begin();
  StepWhenDue();
  EXPECT_EQ(session_->reason().reason,
            "the counters are held by another utlz, of user 1001 (sampler process " +
                std::to_string(other) + ")");
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  for (const int fd : ready) close(fd);
}

TEST_F(CounterSessionTest, BusyAtTheStartOfAWindowIsNoEnd) {
  Begin();
  Window();
  fake_.start_result = cupti::kHardwareBusy;
  StepWhenDue();
  EXPECT_FALSE(session_->works());
  EXPECT_FALSE(fake_.enabled);
  fake_.start_result = 0;
  Window();
  EXPECT_TRUE(session_->works());
}

TEST_F(CounterSessionTest, MissingPermissionIsFinalAndSaysItsRemedy) {
  fake_.availability_result = cupti::kInsufficientPrivileges;
  Begin();
  StepWhenDue();
  EXPECT_FALSE(session_->works());
  EXPECT_NE(session_->reason().remedy.find("NVreg_RestrictProfilingToAdminUsers=0"),
            std::string::npos);
  EXPECT_EQ(session_->next_step_ns(), UINT64_MAX);
}

TEST_F(CounterSessionTest, AChipWithoutCountersIsFinal) {
  fake_.metrics.clear();
  Begin();
  StepWhenDue();
  EXPECT_FALSE(session_->works());
  EXPECT_EQ(session_->next_step_ns(), UINT64_MAX);
}

TEST_F(CounterSessionTest, YieldGivesTheCountersUpInTheMiddleOfAWindow) {
  Begin();
  StepWhenDue();
  StepWhenDue();
  ASSERT_TRUE(session_->sampling());
  session_->Yield(now_ns_);
  EXPECT_FALSE(fake_.sampling);
  EXPECT_FALSE(fake_.enabled);
  EXPECT_EQ(batches_.size(), 1u);  // what was sampled is not thrown away
  EXPECT_EQ(session_->next_step_ns(), UINT64_MAX);
  session_->Resume(now_ns_);
  Window();
  EXPECT_EQ(batches_.size(), 2u);
}

TEST_F(CounterSessionTest, OnlyOneUtlzTakesAGpu) {
  Begin();
  StepWhenDue();
  ASSERT_TRUE(session_->works());
  CounterSession second(
      table_, device_, options_, [](auto, const auto&) {}, now_ns_);
  second.Step(now_ns_, true);
  EXPECT_FALSE(second.works());
  EXPECT_NE(second.reason().reason.find("another utlz (sampler process " +
                                        std::to_string(getpid()) + ")"),
            std::string::npos)
      << second.reason().reason;
  session_.reset();
  second.Step(second.next_step_ns(), true);
  EXPECT_TRUE(second.works());
}

TEST_F(CounterSessionTest, CountsWhatAnOverflowLostAndGoesOn) {
  Begin();
  fake_.decode_result = cupti::kOutOfMemory;
  Window();
  EXPECT_EQ(session_->statistics().samples, 0u);
  EXPECT_TRUE(session_->works());
  fake_.decode_result = 0;
  Window();
  EXPECT_EQ(session_->statistics().samples, 9u);
}

}  // namespace
}  // namespace utlz
