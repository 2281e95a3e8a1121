// Weeks of a machine with eight GPUs, on a clock that does not wait.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "collector/history/history_reader.h"
#include "collector/history/history_store.h"
#include "collector/history/history_trends.h"
#include "collector/history/run_history.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/history/made_up_run.h"

namespace utlz {
namespace {

constexpr int kGpus = 8;
constexpr uint64_t kBytesForWeeks = 128 << 20;

class HistoryWeeksTest : public ::testing::Test {
 protected:
  HistoryWeeksTest() {
    auto store = HistoryStore::Open(folder_.path(), kBytesForWeeks);
    if (store.ok()) store_ = *std::move(store);
  }

  // A run of this command that begins now, and the time passes with it.
  void Run(const std::string& command, uint64_t length_ns, double hfu) {
    RunHistory history(
        NameRun({"/usr/bin/python3", command}, "/profiles/a.utlz"),
        [this](HistoryInterval interval) { EXPECT_TRUE(store_->Append(interval).ok()); },
        [this] { return clock_.now; });
    for (uint64_t passed_ns = 0; passed_ns < length_ns; passed_ns += 20 * kSecondNs) {
      clock_.Pass(20 * kSecondNs);
      const double seconds = static_cast<double>(passed_ns + 20 * kSecondNs) / kSecondNs;
      history.Publish(SnapshotAfter(seconds, kGpus, hfu));
    }
    history.End();
  }

  HistoryReport Report(uint64_t length_ns) const {
    HistoryTrends trends(clock_.now.realtime_ns - length_ns, clock_.now.realtime_ns);
    const auto read =
        ReadHistory(folder_.path(), [&](const HistoryInterval& interval) { trends.Add(interval); });
    EXPECT_TRUE(read.ok()) << read.status();
    return trends.Finish(0);
  }

  uint64_t BytesOnDisk() const {
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      bytes += entry.file_size();
    }
    return bytes;
  }

  TemporaryFolder folder_;
  MadeUpClock clock_;
  std::unique_ptr<HistoryStore> store_;
};

TEST_F(HistoryWeeksTest, FourWeeksOfEightGpusFitAndAreTrue) {
  for (int day = 0; day < 28; ++day) {
    Run("train.py", kDayNs / 2, day < 27 ? 0.4 : 0.36);
    Run("serve.py", kDayNs / 2, 0.05);
    ASSERT_LE(BytesOnDisk(), kBytesForWeeks) << day;
  }
  // What docs/guide/history.md says of it.
  RecordProperty("bytes_per_gpu_and_interval",
                 static_cast<int>(BytesOnDisk() / (28 * 1440 * kGpus)));
  const HistoryReport report = Report(28 * kDayNs);
  ASSERT_EQ(report.jobs_size(), 2);
  const HistoryJob& training = report.jobs(0);
  EXPECT_EQ(training.job(), "python3 train.py");
  ASSERT_EQ(training.runs_size(), 28);
  for (const HistoryRun& run : training.runs()) {
    EXPECT_NEAR(run.figures().seconds(), 43200, 1);
    EXPECT_EQ(run.figures().devices(), 8u);
    EXPECT_NEAR(run.figures().energy_joules(), 43200.0 * 500 * kGpus, 1e3);
    EXPECT_NEAR(run.figures().busy(), 0.5, 1e-6);
    EXPECT_NEAR(run.figures().step_seconds(), 0.1, 1e-6);
    EXPECT_EQ(run.intervals_missing(), 0u);
    EXPECT_TRUE(run.ended());
  }
  EXPECT_NEAR(training.runs(0).figures().hfu(), 0.4, 1e-6);
  EXPECT_NEAR(training.hfu_change(), 0.9, 1e-6) << "the last run reached 10 % less";
  EXPECT_NEAR(report.jobs(1).hfu_change(), 1, 1e-6);
}

TEST_F(HistoryWeeksTest, SinceCutsAndACourseHasAnEnd) {
  for (int day = 0; day < 7; ++day) Run("train.py", kDayNs, 0.1 * day);
  const HistoryReport report = Report(2 * kDayNs);
  ASSERT_EQ(report.jobs_size(), 1);
  ASSERT_EQ(report.jobs(0).runs_size(), 2);
  EXPECT_NEAR(report.jobs(0).runs(1).figures().hfu(), 0.6, 1e-6);
  EXPECT_LE(report.jobs(0).runs(1).course_size(), static_cast<int>(HistoryTrends::kMostParts));
  EXPECT_GT(report.jobs(0).runs(1).course_size(), 20);
}

TEST_F(HistoryWeeksTest, AClockThatIsSetBackLosesNothing) {
  Run("train.py", kDayNs, 0.4);
  const HistoryTime after = clock_.now;
  clock_.now.realtime_ns -= 3 * kDayNs;
  Run("train.py", kDayNs, 0.2);
  const HistoryReport report = Report(7 * kDayNs);
  ASSERT_EQ(report.jobs_size(), 1);
  ASSERT_EQ(report.jobs(0).runs_size(), 2);
  EXPECT_NEAR(report.jobs(0).runs(0).figures().seconds(), 86400, 1);
  EXPECT_NEAR(report.jobs(0).runs(1).figures().seconds(), 86400, 1);
  EXPECT_GT(report.intervals_ahead(), 1000u) << "those of the time before are in the future now";
  clock_.now = after;
  EXPECT_EQ(Report(7 * kDayNs).intervals_ahead(), 0u);
}

TEST_F(HistoryWeeksTest, MoreThanFitsDropsTheOldest) {
  store_.reset();
  auto small = HistoryStore::Open(folder_.path(), 1 << 20);
  ASSERT_TRUE(small.ok());
  store_ = *std::move(small);
  for (int day = 0; day < 14; ++day) {
    Run("train.py", kDayNs, 0.4);
    ASSERT_LE(BytesOnDisk(), uint64_t{1} << 20);
  }
  const HistoryReport report = Report(14 * kDayNs);
  ASSERT_EQ(report.jobs_size(), 1);
  EXPECT_LT(report.jobs(0).runs_size(), 14);
  EXPECT_EQ(report.jobs(0).runs(report.jobs(0).runs_size() - 1).intervals_missing(), 0u);
}

TEST_F(HistoryWeeksTest, LostIntervalsAreCounted) {
  RunHistory history(
      NameRun({"train"}, ""),
      [this](HistoryInterval interval) {
        if (interval.number() % 10 == 5) return;
        EXPECT_TRUE(store_->Append(interval).ok());
      },
      [this] { return clock_.now; });
  for (int minute = 1; minute <= 100; ++minute) {
    clock_.Pass(60 * kSecondNs);
    history.Publish(SnapshotAfter(60 * minute, 1, 0.3));
  }
  history.End();
  EXPECT_EQ(Report(kDayNs).jobs(0).runs(0).intervals_missing(), 10u);
}

TEST_F(HistoryWeeksTest, ARunWithoutAGpuLeavesNothing) {
  RunHistory history(
      NameRun({"make"}, ""), [](HistoryInterval) { FAIL(); }, [this] { return clock_.now; });
  history.Publish(MetricsSnapshot());
  history.End();
}

}  // namespace
}  // namespace utlz
