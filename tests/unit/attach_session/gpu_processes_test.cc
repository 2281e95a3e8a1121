#include "tools/processes/gpu_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace utlz {
namespace {

using ::testing::HasSubstr;

TEST(RenderGpuProcessesTest, UnknownIsADash) {
  GpuProcess known;
  known.pid = 12;
  known.gpus = {0, 3};
  known.memory_bytes = uint64_t{3} << 30;
  known.user = "ada";
  known.command = "python serve.py";
  known.agent = attach::AgentPresence::kInactive;
  GpuProcess unknown;
  unknown.pid = 13;
  unknown.user = "1000";
  unknown.command = "trainer";
  const std::string text = RenderGpuProcesses({known, unknown});
  EXPECT_THAT(text,
              HasSubstr("      12 ada          0,3      3072 MiB inactive python serve.py\n"));
  EXPECT_THAT(text, HasSubstr("      13 1000         -               - absent   trainer\n"));
}

TEST(RenderGpuProcessesTest, NoneIsASentence) {
  EXPECT_EQ(RenderGpuProcesses({}), "no process that this user may see uses a GPU\n");
}

}  // namespace
}  // namespace utlz
