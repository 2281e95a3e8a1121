// Whose the kernels of CUDA graphs are, as far as their order tells.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/support/made_up_loads.h"
#include "tests/support/made_up_stacks.h"
#include "tests/support/run_builder.h"
#include "tests/unit/summary/owner_rows.h"

namespace utlz {
namespace {

constexpr int kBlocks = 6;
// One layer's kernels. Two of them are one kernel, launched by two lines.
const std::vector<std::string> kLayer = {"layer_norm", "gemm_up", "gelu_elementwise", "gemm_down",
                                         "add_elementwise"};
constexpr uint64_t kKernelNs = 1000, kGraphGapNs = 10;

// A model of kBlocks layers between an embedding and a head; each kernel of a layer is launched by
// a module of its own.
class GraphOwnersTest : public ::testing::Test {
 protected:
  GraphOwnersTest() {
    run_.StartRun();
    run_.StartProcess();
    replay_ = stacks_.Function(0, "serve", "/home/me/serve.py", 7);
    const uint32_t main = stacks_.Function(0, "warm_up", "/home/me/serve.py", 3);
    const uint32_t model = stacks_.Module(main, "", "Gpt");
    AddPlace(model, "token", "embedding_gather");
    for (int layer = 0; layer < kBlocks; ++layer) {
      for (size_t i = 0; i < kLayer.size(); ++i) {
        AddPlace(model, "blocks." + std::to_string(layer) + ".part" + std::to_string(i), kLayer[i]);
      }
    }
    AddPlace(model, "head", "gemm_head");
    stacks_.SendTo(&run_);
  }

  void AddPlace(uint32_t model, const std::string& path, const std::string& kernel) {
    const uint32_t module = stacks_.Module(model, path, "Part");
    places_.push_back(stacks_.Function(module, "forward", "/home/me/model.py", 41));
    kernels_.push_back(kernel);
  }

  // Variants of kernels; the first one's number. Those of a graph are nodes.
  uint32_t SendVariants(const std::vector<std::string>& kernels, uint32_t graph, uint32_t grid) {
    Strings strings;
    strings.set_first(stacks_.next_string() + variants_);
    Variants variants;
    variants.set_first(variants_);
    for (size_t i = 0; i < kernels.size(); ++i) {
      strings.add_values(kernels[i]);
      variants.add_name(strings.first() + static_cast<uint32_t>(i));
      for (auto* field : {variants.mutable_grid_x(), variants.mutable_block_x()}) field->Add(grid);
      for (auto* field : {variants.mutable_grid_y(), variants.mutable_grid_z(),
                          variants.mutable_block_y(), variants.mutable_block_z()}) {
        field->Add(1);
      }
      variants.add_graph(graph);
      variants.add_graph_node(graph == 0 ? 0 : uint64_t{graph} << 32 | (i + 1));
      if (graph != 0 && i < captured_.size()) variants.add_captured_stack(captured_[i]);
      if (graph != 0 && !captured_.empty() && i >= captured_.size()) variants.add_captured_stack(0);
    }
    run_.Send(1, FRAME_STRINGS, strings);
    run_.Send(1, FRAME_VARIANTS, variants);
    const uint32_t first = variants_;
    variants_ += static_cast<uint32_t>(kernels.size());
    return first;
  }

  void Launch(uint32_t first_variant, const std::vector<uint32_t>& stacks, uint32_t graph_launch) {
    std::vector<utlz::Launch> launches;
    for (size_t i = 0; i < stacks.size(); ++i) {
      launches.push_back(
          RunBuilder::LaunchAt(now_ns_, kKernelNs, first_variant + static_cast<uint32_t>(i)));
      launches.back().stack = stacks[i];
      now_ns_ += kKernelNs + kGraphGapNs;
      ++launched_;
    }
    run_.SendLaunches(launches, 1, 7, graph_launch);
    now_ns_ += kMicrosecond;
  }

  // The model without a graph.
  void LaunchEagerly() { Launch(SendVariants(kernels_, 0, 132), places_, 0); }

  void Replay(const std::vector<std::string>& kernels, int times, uint32_t grid = 132) {
    const uint32_t first = SendVariants(kernels, ++graphs_, grid);
    for (int i = 0; i < times; ++i) {
      Launch(first, std::vector<uint32_t>(kernels.size(), with_stacks_ ? replay_ : 0), ++replays_);
    }
  }

  OwnersSummary Owners() {
    const OwnersSummary owners = run_.EndRun(now_ns_ + kMillisecond).owners();
    EXPECT_EQ(owners.time_ns(), static_cast<double>(launched_ * kKernelNs));
    ExpectSums(owners, owners.layers());
    if (owners.lines_size() > 0) ExpectSums(owners, owners.lines());
    if (owners.repeated_layers_size() > 0) ExpectSums(owners, owners.repeated_layers());
    return owners;
  }

  static void ExpectSums(const OwnersSummary& owners, const Rows& rows) {
    double time_ns = 0, idle_ns = 0, launches = 0;
    for (const OwnerSummary& row : rows) {
      time_ns += row.own_time_ns();
      idle_ns += row.own_idle_before_ns();
      launches += row.own_launches();
      EXPECT_LE(row.inferred_time_ns(), row.time_ns()) << row.name();
    }
    EXPECT_EQ(time_ns, owners.time_ns());
    EXPECT_EQ(idle_ns, owners.idle_time_ns());
    EXPECT_NEAR(launches, owners.time_ns() / kKernelNs, 1e-6);
  }

  RunBuilder run_;
  MadeUpStacks stacks_{1};
  uint32_t replay_ = 0;
  std::vector<uint32_t> places_;  // stacks that launch kernels_
  std::vector<std::string> kernels_;
  std::vector<uint32_t> captured_;  // stacks of the next graph's first nodes
  bool with_stacks_ = true;
  uint32_t variants_ = 0, graphs_ = 0, replays_ = 100;
  uint64_t now_ns_ = kMillisecond, launched_ = 0;
};

TEST_F(GraphOwnersTest, AGraphHasTheLayersOfItsEagerPass) {
  LaunchEagerly();
  Replay(kernels_, 9);
  const OwnersSummary owners = Owners();
  const OwnerSummary* part = RowNamed(owners.layers(), "blocks.3.part1");
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->time_ns(), 10 * kKernelNs);
  EXPECT_EQ(part->inferred_time_ns(), 9 * kKernelNs);
  EXPECT_NEAR(owners.layer_share(), 0.1, 1e-9);
  EXPECT_NEAR(owners.inferred_share(), 0.9, 1e-9);
  EXPECT_EQ(owners.line_share(), 1);
  EXPECT_EQ(owners.ownerless_share(), 0);
  const OwnerSummary* line = RowNamed(owners.lines(), "model.py:41 forward");
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->time_share(), 1);
  EXPECT_FALSE(owners.has_note());
  // What the GPU waits for is the launch of the graph.
  const OwnerSummary* replay = RowNamed(owners.lines(), "serve.py:7 serve");
  ASSERT_NE(replay, nullptr);
  EXPECT_EQ(replay->time_ns(), 0);
  EXPECT_GT(replay->idle_before_ns(), 8.0 * kMicrosecond);
}

TEST_F(GraphOwnersTest, ThePassMayComeLater) {
  Replay(kernels_, 9);
  LaunchEagerly();
  EXPECT_NEAR(Owners().inferred_share(), 0.9, 1e-9);
}

TEST_F(GraphOwnersTest, SoDoesAGraphOfAPartThatIsLikeNoOther) {
  LaunchEagerly();
  const std::vector<std::string> tail(kernels_.end() - 8, kernels_.end());
  Replay(tail, 5);
  const OwnersSummary owners = Owners();
  EXPECT_EQ(RowNamed(owners.layers(), "head")->time_ns(), 6 * kKernelNs);
  EXPECT_EQ(RowNamed(owners.layers(), "blocks.0.part1")->time_ns(), kKernelNs);
}

TEST_F(GraphOwnersTest, AGraphOfOneLayerMayBeAny) {
  LaunchEagerly();
  Replay(kLayer, 5);
  const OwnersSummary owners = Owners();
  EXPECT_EQ(owners.inferred_share(), 0);
  EXPECT_EQ(RowNamed(owners.layers(), "(outside of layers)")->time_ns(), 25 * kKernelNs);
}

TEST_F(GraphOwnersTest, AnotherOrderIsNotMatched) {
  LaunchEagerly();
  std::mt19937 random(1);
  std::vector<std::string> kernels = kernels_;
  std::shuffle(kernels.begin(), kernels.end(), random);
  Replay(kernels, 5);
  const OwnersSummary owners = Owners();
  EXPECT_EQ(owners.inferred_share(), 0);
  EXPECT_EQ(RowNamed(owners.lines(), "serve.py:7 serve")->time_ns(),
            5.0 * static_cast<double>(kernels.size() * kKernelNs));
}

TEST_F(GraphOwnersTest, OtherGridsAreMatchedAndMarked) {
  LaunchEagerly();
  Replay(kernels_, 9, 264);
  const OwnersSummary owners = Owners();
  EXPECT_NEAR(owners.inferred_share(), 0.9, 1e-9);
  EXPECT_EQ(
      owners.note(),
      "the owners of 1 graph were inferred from launches of kernels with other tiles or grids");
}

TEST_F(GraphOwnersTest, NodesWhoseCaptureWasSeenHaveItsStack) {
  captured_ = places_;
  Replay(kernels_, 9);
  const OwnersSummary owners = Owners();
  EXPECT_EQ(RowNamed(owners.layers(), "blocks.3.part1")->time_ns(), 9 * kKernelNs);
  EXPECT_EQ(owners.layer_share(), 1);
  EXPECT_EQ(owners.inferred_share(), 0);
  EXPECT_EQ(owners.line_share(), 1);
  EXPECT_EQ(RowNamed(owners.lines(), "model.py:41 forward")->time_share(), 1);
  EXPECT_EQ(RowNamed(owners.lines(), "model.py:41 forward")->inferred_time_ns(), 0);
  // What the GPU waits for is the launch of the graph all the same.
  const OwnerSummary* replay = RowNamed(owners.lines(), "serve.py:7 serve");
  ASSERT_NE(replay, nullptr);
  EXPECT_EQ(replay->time_ns(), 0);
  EXPECT_GT(replay->idle_before_ns(), 8.0 * kMicrosecond);
}

TEST_F(GraphOwnersTest, WhatReplaysNeedNotBePython) {
  captured_ = places_;
  with_stacks_ = false;
  Replay(kernels_, 9);
  const OwnersSummary owners = Owners();
  EXPECT_EQ(owners.layer_share(), 1);
  EXPECT_EQ(owners.ownerless_share(), 0);
}

TEST_F(GraphOwnersTest, TheRestOfAGraphIsInferredBesideWhatWasSeen) {
  LaunchEagerly();
  captured_.assign(places_.begin(), places_.begin() + 10);
  Replay(kernels_, 9);
  const OwnersSummary owners = Owners();
  const auto all = static_cast<double>(10 * kernels_.size());
  EXPECT_NEAR(owners.layer_share(), (static_cast<double>(kernels_.size()) + 90) / all, 1e-9);
  EXPECT_NEAR(owners.inferred_share(), 9 * (static_cast<double>(kernels_.size()) - 10) / all, 1e-9);
}

// Of a process that names a stack which it never sent.
TEST_F(GraphOwnersTest, StacksThatAreNotKnownAreNone) {
  captured_.assign(kernels_.size(), 4'000'000'000);
  Replay(kernels_, 4);
  EXPECT_EQ(Owners().layer_share(), 0);
}

TEST_F(GraphOwnersTest, WithoutAPassLayersAreFolded) {
  Replay(kernels_, 4);
  const OwnersSummary owners = Owners();
  const OwnerSummary* part = RowNamed(owners.layers(), "(repeated part)");
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->kind(), "repeated_part");
  EXPECT_EQ(part->instances(), static_cast<uint32_t>(kBlocks));
  EXPECT_EQ(part->time_ns(), 4.0 * kBlocks * static_cast<double>(kLayer.size() * kKernelNs));
  EXPECT_EQ(part->inferred_time_ns(), part->time_ns());
  std::vector<std::string> names;
  for (const OwnerSummary& row : owners.layers()) names.push_back(row.name());
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "(outside of layers)", "(repeated part)", "(part) 1 normalization", "(part) 2 gemm",
                "(part) 3 elementwise", "(part) 4 gemm", "(part) 5 elementwise"}));
  EXPECT_EQ(RowNamed(owners.layers(), "(part) 2 gemm")->launches(), 4 * kBlocks);
  EXPECT_EQ(owners.layer_share(), 0) << "no layer has a name";
  EXPECT_EQ(RowNamed(owners.lines(), "serve.py:7 serve")->time_share(), 1);
  EXPECT_EQ(RowNamed(owners.lines(), "serve.py:7 serve")->inferred_time_ns(), 0);
}

TEST_F(GraphOwnersTest, GraphsOfOneModelFoldIntoOneRow) {
  for (const uint32_t grid : {32u, 64u, 128u}) Replay(kernels_, 2, grid);
  const OwnersSummary owners = Owners();
  int folds = 0;
  for (const OwnerSummary& row : owners.layers()) folds += row.name() == "(repeated part)" ? 1 : 0;
  EXPECT_EQ(folds, 1);
}

TEST_F(GraphOwnersTest, WithoutStacksTheyAreFoldedToo) {
  with_stacks_ = false;
  Replay(kernels_, 4);
  const OwnersSummary owners = Owners();
  EXPECT_NE(RowNamed(owners.layers(), "(repeated part)"), nullptr);
  EXPECT_EQ(owners.lines_size(), 0);
  EXPECT_FALSE(owners.has_line_share()) << "nobody looked for lines";
}

// Whatever graphs and passes there are, nothing is lost or counted twice.
TEST_F(GraphOwnersTest, SumsAreKept) {
  std::mt19937 random(2);
  for (int i = 0; i < 30; ++i) {
    std::vector<std::string> kernels = kernels_;
    switch (random() % 5) {
      case 0:
        LaunchEagerly();
        continue;
      case 1:
        std::shuffle(kernels.begin(), kernels.end(), random);
        break;
      case 2:
        kernels.resize(1 + random() % kernels.size());
        break;
      case 3:
        kernels[random() % kernels.size()] = "foreign";
        break;
      default:
        break;
    }
    with_stacks_ = random() % 4 != 0;
    Replay(kernels, 1 + static_cast<int>(random() % 3), 132 << random() % 2);
  }
  const OwnersSummary owners = Owners();
  EXPECT_GT(owners.inferred_share(), 0);
  EXPECT_LE(owners.inferred_share() + owners.layer_share() + owners.ownerless_share(), 1 + 1e-9);
}

}  // namespace
}  // namespace utlz
