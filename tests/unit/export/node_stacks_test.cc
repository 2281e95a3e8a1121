// Exports of CUDA graphs: each kernel has the owner that the report infers.
#include "tools/export/node_stacks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/graph_run.h"
#include "tests/unit/export/pprof_file.h"
#include "tests/unit/export/recorded_profile.h"
#include "tools/export/trace_export.h"
#include "tools/replay/replay.h"

namespace utlz {
namespace {

constexpr int kReplays = 3;

class NodeStacksTest : public ::testing::Test {
 protected:
  NodeStacksTest()
      : name_(::testing::TempDir() + "nodes_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    RecordedProfile profile(name_ + ".utlz");
    profile.StartRun();
    profile.StartProcess();
    SendGraphRun(kReplays, &profile);
    profile.EndRun(1'000'000);
    RecordedProfile captured(name_ + "_captured.utlz");
    captured.StartRun();
    captured.StartProcess();
    SendGraphRun(kReplays, &captured, /*captured=*/true);
    captured.EndRun(1'000'000);
  }

  std::string Export(TraceFormat format, const std::string& which = "") {
    TraceExportOptions options;
    options.replace = true;
    const std::string output = name_ + ".out";
    const auto result = ExportTrace(name_ + which + ".utlz", format, output, options);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return output;
  }

  std::string name_;
};

TEST_F(NodeStacksTest, TracesHaveTheLayersAndLinesOfNodes) {
  std::ifstream file(Export(TraceFormat::kChrome));
  const auto trace = nlohmann::json::parse(file);
  size_t kernels = 0, inferred = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (!event.contains("cat") || event["cat"] != "kernel") continue;
    const auto& arguments = event["args"];
    const size_t place = kernels++ % kGraphRunKernels.size();
    ASSERT_EQ(event["name"], kGraphRunKernels[place]);
    EXPECT_EQ(arguments["layer"], "part." + std::to_string(place));
    EXPECT_EQ(arguments["line"], "model.py:" + std::to_string(41 + place) + " forward");
    const bool is_node = arguments.contains("graph node");
    EXPECT_EQ(arguments.value("owner", "seen"), is_node ? "inferred" : "seen");
    inferred += is_node ? 1 : 0;
  }
  EXPECT_EQ(kernels, (kReplays + 1) * kGraphRunKernels.size());
  EXPECT_EQ(inferred, kReplays * kGraphRunKernels.size());
}

TEST_F(NodeStacksTest, SamplesHaveTheFramesOfNodes) {
  const PprofFile profile = ReadPprof(Export(TraceFormat::kPprof));
  int64_t inferred_ns = 0, seen_ns = 0;
  for (const PprofFileSample& sample : profile.samples) {
    const auto time = sample.values.find("gpu_time");
    if (time == sample.values.end() || time->second == 0) continue;
    const bool is_inferred = sample.labels.contains("owner");
    (is_inferred ? inferred_ns : seen_ns) += time->second;
    ASSERT_GT(sample.stack.size(), 3u);
    EXPECT_EQ(sample.stack[1].function, "forward") << "and not the line of the replay";
    EXPECT_EQ(sample.stack.back().function, "main");
    EXPECT_EQ(is_inferred ? sample.labels.at("owner") : "inferred", "inferred");
  }
  const auto pass_ns = static_cast<int64_t>(kGraphRunKernels.size() * kGraphRunKernelNs);
  EXPECT_EQ(seen_ns, pass_ns);
  EXPECT_EQ(inferred_ns, kReplays * pass_ns);
}

// Idle time before a replay, and between its nodes, stays with the line of the replay. The report
// knows the steps' part of short gaps by its share, the export gap by gap.
TEST_F(NodeStacksTest, IdleTimeIsOfTheLinesThatTheReportNames) {
  std::map<std::string, double> exported;
  for (const PprofFileSample& sample : ReadPprof(Export(TraceFormat::kPprof)).samples) {
    ASSERT_GT(sample.stack.size(), 1u);
    const PprofFileFrame& line = sample.stack[1];
    exported[line.file.substr(line.file.rfind('/') + 1) + ":" + std::to_string(line.line) + " " +
             line.function] += static_cast<double>(sample.values.at("idle_time"));
  }
  const absl::StatusOr<Summary> report = LoadSummary(name_ + ".utlz");
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_GT(report->owners().lines_size(), 0);
  for (const OwnerSummary& row : report->owners().lines()) {
    EXPECT_NEAR(exported[row.name()], row.idle_before_ns(), 0.01 * report->owners().idle_time_ns())
        << row.name();
  }
  EXPECT_GE(exported["serve.py:7 serve"], kReplays * 1010);
}

TEST_F(NodeStacksTest, WhatWasSeenAtTheCaptureIsNotInferred) {
  std::ifstream file(Export(TraceFormat::kChrome, "_captured"));
  size_t nodes = 0;
  const auto trace = nlohmann::json::parse(file);
  for (const auto& event : trace["traceEvents"]) {
    if (!event.contains("args") || !event["args"].contains("graph node")) continue;
    const size_t place = nodes++ % kGraphRunKernels.size();
    EXPECT_EQ(event["args"]["layer"], "part." + std::to_string(place));
    EXPECT_FALSE(event["args"].contains("owner"));
  }
  EXPECT_EQ(nodes, kReplays * kGraphRunKernels.size());
  int64_t time_ns = 0;
  double idle_ns = 0;
  const PprofFile profile = ReadPprof(Export(TraceFormat::kPprof, "_captured"));
  for (const PprofFileSample& sample : profile.samples) {
    EXPECT_FALSE(sample.labels.contains("owner"));
    ASSERT_GT(sample.stack.size(), 1u);
    const auto time = sample.values.find("gpu_time");
    if (time != sample.values.end() && time->second != 0) {
      EXPECT_EQ(sample.stack[1].function, "forward");
      time_ns += time->second;
    }
    if (sample.stack[1].function == "serve") {
      idle_ns += static_cast<double>(sample.values.at("idle_time"));
    }
  }
  EXPECT_EQ(time_ns,
            (kReplays + 1) * static_cast<int64_t>(kGraphRunKernels.size() * kGraphRunKernelNs));
  EXPECT_GE(idle_ns, kReplays * 1010) << "of the line that replays";
}

TEST_F(NodeStacksTest, WithoutGraphsNothingIsKnown) {
  NodeStacks none;
  StackTable stacks;
  VariantShape shape;
  shape.graph = 1;
  shape.graph_node = 6;
  EXPECT_EQ(none.Find(1, shape, &stacks).stack, kNoStack);
  auto reader = ProfileReader::Open(name_ + ".utlz");
  ASSERT_TRUE(reader.ok());
  NodeStacks known(&*reader);
  const uint32_t stack = known.Find(1, shape, &stacks).stack;
  ASSERT_NE(stack, kNoStack);
  EXPECT_EQ(stacks.FrameOf(stack).line, 41u);
  EXPECT_EQ(known.Find(2, shape, &stacks).stack, kNoStack) << "another process";
  shape.graph = 2;
  EXPECT_EQ(known.Find(1, shape, &stacks).stack, kNoStack) << "another graph";
  shape.graph_node = 0;
  EXPECT_EQ(known.Find(1, shape, &stacks).stack, kNoStack) << "no node";
}

}  // namespace
}  // namespace utlz
