#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/top/example_snapshot.h"
#include "tools/top/clock_limits.h"
#include "tools/top/snapshot_json.h"
#include "tools/top/snapshot_text.h"

namespace utlz::top {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Snapshot OneGpu() {
  GpuSnapshot gpu = {.index = 1, .source = ComputeSource::kGpm, .gpu_util_percent = 80};
  gpu.sm_active_percent = 20;
  gpu.sm_clock_mhz = 1500;
  gpu.sm_clock_max_mhz = 1980;
  gpu.clock_limit_reasons = 0x4;
  gpu.memory_used_bytes = 3ull << 30;
  gpu.memory_change_bytes_per_second = -1024.0 * 1024.0;
  gpu.nvlink_rx_bytes_per_second = 2e9;
  gpu.processes = {{.pid = 7, .command = "a\"b"}};
  return {.time_ns = 1, .gpus = {gpu}};
}

TEST(SnapshotOutputTest, JsonHasWhatIsKnownAndNoKeyForTheRest) {
  const std::string text = SnapshotJson(OneGpu());
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(R"({
    "schema": "utlz.top/1", "time_ns": 1, "gpus": [{
      "index": 1, "gpu_util_percent": 80.0, "compute_source": "GPM", "sm_active_percent": 20.0,
      "efficiency_score_percent": 25.0, "sm_clock_mhz": 1500.0, "sm_clock_max_mhz": 1980.0,
      "clock_limits": ["power cap"], "memory_used_bytes": 3221225472,
      "memory_change_bytes_per_second": -1048576.0, "nvlink_rx_bytes_per_second": 2e9,
      "processes": [{"pid": 7, "command": "a\"b"}]}], "runs": []})"));
}

TEST(SnapshotOutputTest, LinesHaveWhatIsKnown) {
  EXPECT_THAT(SnapshotLines(OneGpu()),
              EndsWith("GPU 1  GPU-Util 80.0%  SM 20.0%  score 25.0%  (GPM)  1500 of 1980 MHz "
                       "(power cap)  3.0 GiB (-1.0 MiB/s)  NVLink in 2.00 GB/s\n"));
  EXPECT_THAT(SnapshotLines({.time_ns = 1, .gpus = {GpuSnapshot()}}), EndsWith("GPU 0  (NVML)\n"));
}

TEST(SnapshotOutputTest, ARunWithoutProcessesIsNamedByItsCommand) {
  Snapshot snapshot = {.time_ns = 1};
  LiveSnapshot& run = snapshot.runs.emplace_back();
  run.set_collector_pid(12);
  EXPECT_THAT(SnapshotLines(snapshot),
              EndsWith("run that process 12 records:  no process uses CUDA now\n"));
  run.set_command("python train.py");
  run.add_processes()->set_pid(7);  // has ended
  EXPECT_THAT(SnapshotLines(snapshot),
              EndsWith("run of python train.py:  no process uses CUDA now\n"));
}

TEST(SnapshotOutputTest, LinesAndJsonHaveLayersAndLines) {
  Snapshot snapshot = ExampleSnapshot();
  AddExampleOwners(&snapshot.runs[0]);
  EXPECT_THAT(SnapshotLines(snapshot),
              HasSubstr("  layer blocks.*.mlp.up 45.0%  line model.py:41 Block.forward 60.0%\n"));
  snapshot.runs[0].mutable_layers(0)->set_name("\x1b[31m");
  EXPECT_THAT(SnapshotLines(snapshot), Not(HasSubstr("\x1b[31m")));
  const auto run = nlohmann::json::parse(SnapshotJson(snapshot))["runs"][0];
  EXPECT_EQ(run["layers"].size(), 3u);
  EXPECT_EQ(run["layers"][0]["instances"], 24);
  EXPECT_EQ(run["lines"][1]["name"], "train.py:7 step");
}

TEST(SnapshotOutputTest, OnlyThePageNamesProcesses) {
  EXPECT_THAT(SnapshotPage(OneGpu()), HasSubstr("7  -                     -  a\"b\n"));
  EXPECT_THAT(SnapshotLines(OneGpu()), Not(HasSubstr("a\"b")));
}

TEST(SnapshotOutputTest, AGpuThatWasNotBusyHasNoScore) {
  EXPECT_FALSE(EfficiencyScorePercent({.gpu_util_percent = 0, .sm_active_percent = 0}));
}

TEST(SnapshotOutputTest, ClockLimitsHaveNames) {
  EXPECT_THAT(ClockLimitNames(0), IsEmpty());
  EXPECT_THAT(ClockLimitNames(0x1 | 0x4 | 0x100), ElementsAre("idle", "power cap", "other"));
}

}  // namespace
}  // namespace utlz::top
