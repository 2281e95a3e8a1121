#include "collector/live/live_owners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "collector/live/live_message.h"
#include "tests/support/made_up_stacks.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

class LiveOwnersTest : public ::testing::Test {
 protected:
  LiveOwnersTest() {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels({"gemm", "norm"});
  }

  // A second of 50 launches of a millisecond, each with one of the stacks in turn.
  void SendSecond(uint64_t second, const std::vector<uint32_t>& stacks, uint32_t kernel = 0) {
    std::vector<Launch> launches;
    for (uint64_t i = 0; i < 50; ++i) {
      launches.push_back(
          RunBuilder::LaunchAt((1000 * second + 10 * i) * kMillisecondNs, kMillisecondNs, kernel));
      launches.back().stack = stacks[i % stacks.size()];
    }
    run_.SendLaunches(launches);
  }

  // Variants of the first kernel that are nodes of a graph, captured from these stacks.
  void SendNodes(uint32_t first_variant, const std::vector<uint32_t>& captured) {
    Variants variants;
    variants.set_first(first_variant);
    for (size_t i = 0; i < captured.size(); ++i) {
      variants.add_name(1);
      for (auto* field :
           {variants.mutable_grid_x(), variants.mutable_grid_y(), variants.mutable_grid_z(),
            variants.mutable_block_x(), variants.mutable_block_y(), variants.mutable_block_z()}) {
        field->Add(1);
      }
      variants.add_graph(3);
      variants.add_graph_node(uint64_t{3} << 32 | (i + 1));
      variants.add_captured_stack(captured[i]);
    }
    run_.Send(1, FRAME_VARIANTS, variants);
  }

  LiveSnapshot Take() {
    LiveSnapshot snapshot;
    owners_.Update(run_.intake().Advance(), kernels_);
    owners_.AddTo(run_.intake().Advance(), &snapshot);
    EXPECT_TRUE(CheckLive(snapshot).ok());
    return snapshot;
  }

  RunBuilder run_;
  MadeUpStacks stacks_{3};  // after the names of the kernels
  LiveOwners owners_;
  std::vector<KernelOfWholeRun> kernels_;
};

TEST_F(LiveOwnersTest, LayersOfOnePatternAreOne) {
  const uint32_t model = stacks_.Module(0, "", "Model");
  const uint32_t first = stacks_.Function(stacks_.Module(model, "blocks.0.mlp", "Mlp"), "forward",
                                          "/home/kim/model.py", 41);
  const uint32_t second = stacks_.Function(stacks_.Module(model, "blocks.1.mlp", "Mlp"), "forward",
                                           "/home/kim/model.py", 41);
  const uint32_t optimizer = stacks_.Push(0, STACK_FRAME_OPTIMIZER, "AdamW", "", 0, "");
  stacks_.SendTo(&run_);
  SendSecond(0, {first, second, first, optimizer, kNoStack});
  const LiveSnapshot snapshot = Take();
  ASSERT_EQ(snapshot.layers_size(), 3);
  EXPECT_EQ(snapshot.layers(0).name(), "blocks.*.mlp");
  EXPECT_EQ(snapshot.layers(0).kind(), "layer");
  EXPECT_EQ(snapshot.layers(0).module_class(), "Mlp");
  EXPECT_EQ(snapshot.layers(0).instances(), 2u);
  EXPECT_DOUBLE_EQ(snapshot.layers(0).time_share(), 0.6);
  EXPECT_EQ(snapshot.layers(0).mean_time_ns(), 1'000'000);
  EXPECT_FALSE(snapshot.layers(0).has_roof_share()) << "no kernel's is known";
  EXPECT_EQ(snapshot.layers(1).kind(), "optimizer");
  EXPECT_EQ(snapshot.layers(2).kind(), "unknown");
  ASSERT_EQ(snapshot.lines_size(), 2);
  EXPECT_EQ(snapshot.lines(0).name(), "model.py:41 forward");
  EXPECT_DOUBLE_EQ(snapshot.lines(0).time_share(), 0.6);
  EXPECT_EQ(snapshot.owners_reason(), "");
}

TEST_F(LiveOwnersTest, KernelsOfGraphsBelongToWhatTheyWereCapturedFrom) {
  const uint32_t replay = stacks_.Function(0, "main", "/home/kim/serve.py", 70);
  const uint32_t model = stacks_.Module(0, "", "Model");
  const uint32_t layer = stacks_.Function(stacks_.Module(model, "head", "Linear"), "forward",
                                          "/home/kim/model.py", 41);
  stacks_.SendTo(&run_);
  // The first node was seen when it was captured, the second one was not.
  SendNodes(2, {layer, 0});
  std::vector<Launch> launches;
  for (uint64_t i = 0; i < 20; ++i) {
    launches.push_back(RunBuilder::LaunchAt(10 * i * kMillisecondNs, kMillisecondNs,
                                            static_cast<uint32_t>(2 + i % 2)));
    launches.back().stack = replay;
  }
  run_.SendLaunches(launches, 1, 7, 9);
  const LiveSnapshot snapshot = Take();
  ASSERT_EQ(snapshot.layers_size(), 2);
  EXPECT_EQ(snapshot.layers(0).time_share(), 0.5);
  EXPECT_EQ(snapshot.layers(1).time_share(), 0.5);
  std::map<std::string, double> lines;
  for (const LiveOwner& line : snapshot.lines()) lines[line.name()] = line.time_share();
  EXPECT_EQ(lines, (std::map<std::string, double>{{"model.py:41 forward", 0.5},
                                                  {"serve.py:70 main", 0.5}}));
}

TEST_F(LiveOwnersTest, ModulesOfFlaxAreNumberedAtTheEnd) {
  const auto push = [&](const std::string& block, const std::string& locations) {
    const std::string name = "jit(step)/Model/" + block + "/dot";
    return stacks_.Instruction(0, name, "dot.1", locations, name);
  };
  const std::string calls =
      "\n- /home/kim/model.py:41:1[Model.__call__]\n-- /home/kim/model.py:20:1[Block.__call__]\n";
  // Of the first and the last one the class is not known.
  const std::vector<uint32_t> stacks = {push("block_0", "\n"), push("block_0", calls),
                                        push("block_11", calls), push("block_11", "\n")};
  stacks_.SendTo(&run_);
  SendSecond(0, stacks);
  const LiveSnapshot snapshot = Take();
  ASSERT_EQ(snapshot.layers_size(), 1);
  EXPECT_EQ(snapshot.layers(0).name(), "block_*");
  EXPECT_EQ(snapshot.layers(0).instances(), 2u);
  EXPECT_EQ(snapshot.layers(0).module_class(), "Block") << "as far as it is known";
}

TEST_F(LiveOwnersTest, WorkIsThatOfTheKernels) {
  const uint32_t layer = stacks_.Module(stacks_.Module(0, "", "Model"), "head", "Linear");
  stacks_.SendTo(&run_);
  SendSecond(0, {layer}, 0);
  SendSecond(1, {layer}, 1);
  SendSecond(2, {layer}, 1);
  kernels_.resize(2);
  kernels_[0].bound = BOUND_COMPUTE;
  kernels_[0].roof_share = 0.9;
  kernels_[0].flops_per_second = 3e12;
  kernels_[1].bound = BOUND_MEMORY;
  kernels_[1].roof_share = 0.3;
  kernels_[1].dram_bytes_per_second = 1e12;
  const LiveSnapshot snapshot = Take();
  ASSERT_EQ(snapshot.layers_size(), 1);
  EXPECT_EQ(snapshot.layers(0).bound(), BOUND_MEMORY) << "of most of its time";
  EXPECT_NEAR(snapshot.layers(0).roof_share(), 0.5, 1e-9);
  EXPECT_NEAR(snapshot.layers(0).flops_per_second(), 3e12, 1) << "of the kernels that have it";
  EXPECT_NEAR(snapshot.layers(0).dram_bytes_per_second(), 1e12, 1);
}

TEST_F(LiveOwnersTest, SharesAreOfTheLastSeconds) {
  const uint32_t before = stacks_.Module(0, "warmup", "Linear");
  const uint32_t after = stacks_.Module(0, "head", "Linear");
  stacks_.SendTo(&run_);
  SendSecond(0, {before});
  EXPECT_EQ(Take().layers(0).name(), "warmup");
  for (uint64_t second = 1; second < 40; ++second) {
    SendSecond(second, {after});
    Take();
  }
  const LiveSnapshot snapshot = Take();
  ASSERT_EQ(snapshot.layers_size(), 1);
  EXPECT_EQ(snapshot.layers(0).name(), "head");
  EXPECT_EQ(snapshot.layers(0).time_share(), 1);
}

// However many a program has, or makes up.
TEST_F(LiveOwnersTest, OwnersAreBounded) {
  std::vector<uint32_t> stacks;
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  for (size_t i = 0; i < LiveOwners::kMostOwners + 500; ++i) {
    std::string name;
    for (size_t rest = i, digits = 0; digits < 4; rest /= 26, ++digits) name += letters[rest % 26];
    stacks.push_back(stacks_.Module(0, name, std::string(2000, 'c')));
  }
  stacks_.SendTo(&run_);
  for (size_t i = 0; i < stacks.size(); i += 50) {
    SendSecond(i / 50, {stacks.begin() + static_cast<ptrdiff_t>(i),
                        stacks.begin() + static_cast<ptrdiff_t>(std::min(i + 50, stacks.size()))});
  }
  const LiveSnapshot snapshot = Take();
  EXPECT_EQ(snapshot.layers_size(), static_cast<int>(LiveOwners::kMostShown));
  EXPECT_EQ(snapshot.layers(0).kind(), "other");
  EXPECT_NEAR(snapshot.layers(0).time_share(), 501.0 / static_cast<double>(stacks.size()), 0.01);
  EXPECT_FALSE(EncodeLive(snapshot).empty());
}

TEST_F(LiveOwnersTest, SaysWhyThereAreNone) {
  SendSecond(0, {kNoStack});
  EXPECT_NE(Take().owners_reason().find("--stacks auto"), std::string::npos);
  EXPECT_EQ(Take().layers_size(), 0);
  AgentStatus status;
  status.set_stack_calls(5);
  run_.Send(1, FRAME_AGENT_STATUS, status);
  EXPECT_NE(Take().owners_reason().find("yet"), std::string::npos);
  status.set_no_stack(NO_STACK_NO_PYTHON);
  run_.Send(1, FRAME_AGENT_STATUS, status);
  EXPECT_NE(Take().owners_reason().find("no interpreter of Python"), std::string::npos);
}

}  // namespace
}  // namespace utlz
