#include "tools/top/snapshot_reader.h"

#include <gtest/gtest.h>

#include "tests/unit/top/fake_gpu.h"

namespace utlz::top {
namespace {

TEST(SnapshotReaderTest, NamesTheProcessesOfEveryTick) {
  SnapshotReader reader(FakeGpu::Table());
  for (uint64_t tick = 1; tick < 3; ++tick) {
    const Snapshot snapshot = reader.Read(tick);
    EXPECT_EQ(snapshot.time_ns, tick);
    ASSERT_EQ(snapshot.gpus.size(), 1u);
    const ProcessSnapshot& process = snapshot.gpus[0].processes->at(0);
    EXPECT_EQ(process.pid, getpid());
    EXPECT_NE(process.command.find("top_test"), std::string::npos);
    EXPECT_FALSE(process.user.empty());
  }
}

TEST(SnapshotReaderTest, AnNvmlThatCountsNoGpusGivesNone) {
  EXPECT_TRUE(SnapshotReader(NvmlTable()).Read(1).gpus.empty());
}

}  // namespace
}  // namespace utlz::top
