// Frames that cost their sender a few bytes, and would cost a model much: memory for identifiers
// that leave gaps, state that is kept for ever of processes that come and go, and work that grows
// with all that came before.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "collector/run/kernel_table.h"
#include "collector/run/memory_budget.h"
#include "collector/run/nvtx_range_correlator.h"
#include "collector/run/process_table.h"
#include "collector/run/run_intake.h"
#include "collector/summarize/summary_builder.h"
#include "proto/profile.pb.h"
#include "proto/ring_abi.h"

namespace utlz {
namespace {

constexpr uint32_t kManyProcesses = 65'000;

Strings OneString(uint32_t id, const std::string& value) {
  Strings strings;
  strings.set_first(id);
  strings.add_values(value);
  return strings;
}

Variants OneVariant(uint32_t id, uint32_t name) {
  Variants variants;
  variants.set_first(id);
  variants.add_name(name);
  return variants;
}

AgentStatus StatusAt(uint64_t time_ns) {
  AgentStatus status;
  status.set_time_ns(time_ns);
  return status;
}

TEST(MemoryBudgetTest, TakesGivesAndRefuses) {
  MemoryBudget budget(100);
  EXPECT_TRUE(budget.Take(60));
  EXPECT_FALSE(budget.Take(41));
  EXPECT_EQ(budget.used_bytes(), 60u);
  EXPECT_TRUE(budget.Take(40));
  EXPECT_FALSE(budget.Take(1));
  budget.Give(50);
  EXPECT_TRUE(budget.Take(50));
  EXPECT_FALSE(budget.Take(SIZE_MAX));
}

TEST(HostileFramesTest, RefusesIdentifiersThatLeaveGaps) {
  const auto memory = std::make_shared<MemoryBudget>();
  ProcessTable table(memory);
  ProcessState* process = table.Get(1);
  const size_t before = memory->used_bytes();
  EXPECT_FALSE(table.AddStrings(process, OneString(ProcessTable::kMaxStringIds - 1, "")));
  EXPECT_FALSE(table.AddVariants(process, OneVariant(1 << 20, 0)));
  EXPECT_TRUE(process->strings.empty());
  EXPECT_TRUE(process->variants.empty());
  EXPECT_EQ(memory->used_bytes(), before);
  EXPECT_TRUE(table.AddStrings(process, OneString(1, "a")));
  EXPECT_TRUE(table.AddStrings(process, OneString(200, "after frames that were damaged")));
  EXPECT_TRUE(table.AddVariants(process, OneVariant(0, 1)));
}

TEST(HostileFramesTest, CutsStringsAsAgentsDo) {
  ProcessTable table;
  ProcessState* process = table.Get(1);
  ASSERT_TRUE(table.AddStrings(process, OneString(1, std::string(1 << 20, 'n'))));
  EXPECT_EQ(process->strings[1].size(), ProcessTable::kMaxStringBytes);
}

TEST(HostileFramesTest, OneBudgetHoldsWhateverIsSent) {
  constexpr size_t kBudget = 4 << 20;
  const auto memory = std::make_shared<MemoryBudget>(kBudget);
  ProcessTable table(memory);
  KernelTable kernels(memory);
  Variants variants;
  Strings strings;
  for (uint32_t i = 0; i < 500; ++i) {
    variants.add_name(i % 50);
    strings.add_values(std::string(100, 'n') + std::to_string(i));
  }
  bool refused = false;
  for (uint32_t source = 1; source < 1000; ++source) {
    ProcessState* process = table.Get(source);
    if (process == nullptr) {
      refused = true;
      continue;
    }
    table.AddStrings(process, strings);
    table.AddVariants(process, variants);
    for (uint32_t id = 0; id < 500; ++id) {
      Context context;
      context.set_id(id);
      table.AddContext(process, context);
      table.StreamOf(process, id, id);
      const uint32_t kernel = kernels.Find(process, id, id % 256);
      ASSERT_LT(kernel, kernels.kernels().size());
      kernels.ShareOf(kernel, source);
    }
    ASSERT_LE(memory->used_bytes(), kBudget);
  }
  EXPECT_TRUE(refused);
}

TEST(HostileFramesTest, KernelsWithoutRoomAreOtherKernels) {
  const auto memory = std::make_shared<MemoryBudget>();
  ProcessTable table(memory);
  KernelTable kernels(memory);
  ProcessState* process = table.Get(1);
  ASSERT_TRUE(table.AddVariants(process, OneVariant(0, 0)));
  ASSERT_TRUE(memory->Take(MemoryBudget::kDefaultBytes - memory->used_bytes()));
  const uint32_t kernel = kernels.Find(process, 0, 3);
  EXPECT_TRUE(kernels[kernel].other);
  EXPECT_EQ(kernels.Find(process, 0, 3), kernel);
  EXPECT_EQ(kernels.ShareOf(kernel, 1), nullptr);
}

// A process that connects again and again, with as many names as it may send.
TEST(HostileFramesTest, NamesOfEndedProcessesAreForgotten) {
  RunIntake intake;
  Strings strings;
  strings.set_first(1);
  for (int i = 0; i < 8; ++i) strings.add_values(std::string(8 << 10, 'n'));
  const std::string names = strings.SerializeAsString();
  for (uint32_t source = 1; source <= 10'000; ++source) {
    intake.Consume(source, FRAME_STRINGS, names);
    intake.Consume(source, FRAME_VARIANTS, OneVariant(0, 1).SerializeAsString());
    intake.Consume(source, FRAME_PROCESS_END, ProcessEnd().SerializeAsString());
  }
  EXPECT_EQ(Summarize(intake.Advance()).capture().frames_refused(), 0u);
}

TEST(HostileFramesTest, WhatIsKeptOfEachProcessIsSmall) {
  RunIntake intake;
  Process process;
  process.set_executable(std::string(100'000, 'x'));
  ProcessEnd end;
  end.set_how(std::string(100'000, 'x'));
  Device device;
  device.set_name(std::string(100'000, 'x'));
  intake.Consume(1, FRAME_PROCESS, process.SerializeAsString());
  intake.Consume(1, FRAME_PROCESS_END, end.SerializeAsString());
  intake.Consume(1, FRAME_DEVICE, device.SerializeAsString());
  EXPECT_EQ(Summarize(intake.Advance()).capture().frames_refused(), 3u);
}

// Each of these frames would look at every other process, or at every launch that waits.
TEST(HostileFramesTest, WorkOfAFrameDoesNotGrowWithTheProcesses) {
  RunIntake intake;
  for (uint32_t source = 1; source <= kManyProcesses; ++source) {
    intake.Consume(source, FRAME_PROCESS, Process().SerializeAsString());
  }
  for (uint32_t round = 1; round <= 8; ++round) {
    for (uint32_t source = 1; source <= kManyProcesses; ++source) {
      intake.Consume(source, FRAME_AGENT_STATUS, StatusAt(round).SerializeAsString());
    }
  }
  intake.EndOfInput();
  EXPECT_EQ(intake.Launches(), 0u);
}

TEST(HostileFramesTest, WorkOfACallDoesNotGrowWithTheLaunchesThatWait) {
  NvtxRangeCorrelator correlator;
  for (uint32_t i = 1; i <= NvtxRangeCorrelator::kMaxWaiting; ++i)
    correlator.AddLaunch(1, i, {0, 10});
  LaunchCallBatch batch;
  for (int i = 0; i < 30'000; ++i) ASSERT_TRUE(correlator.AddCalls(2, batch));
}

TEST(HostileFramesTest, WorkOfAStatusDoesNotGrowWithTheRangesThatAreOpen) {
  NvtxRangeCorrelator correlator;
  MarkerKernels kernels;
  for (size_t i = 0; i < NvtxRangeCorrelator::kMaxRanges; ++i) {
    correlator.AddRange(1, 1, 1'000'000, 2'000'000, &kernels);
  }
  for (uint64_t watermark_ns = 0; watermark_ns < 200'000; ++watermark_ns) {
    correlator.Settle(1, watermark_ns);
  }
  EXPECT_FALSE(kernels.seen);
}

}  // namespace
}  // namespace utlz
