// Kernels that libraries launch for instructions of XLA, in CUDA graphs.
#include "collector/owners/child_graphs.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/made_up_stacks.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

constexpr uint64_t kNodeNs = 1000;

class ChildGraphsTest : public ::testing::Test {
 protected:
  ChildGraphsTest() {
    run_.StartRun();
    run_.StartProcess();
    main_ = stacks_.Function(0, "main", "/home/me/train.py", 7);
  }

  uint32_t Instruction(const std::string& layer, uint32_t parent) {
    const std::string operation = "jit(step)/Model/" + layer + "/dot";
    return stacks_.Instruction(parent, operation, "dot.1", "\n", operation);
  }

  // Time by layer of a graph whose first nodes were captured from these stacks, and of whose others
  // that was not seen.
  std::map<std::string, double> TimesOf(const std::vector<uint32_t>& captured, uint32_t others) {
    stacks_.SendTo(&run_);
    Strings strings;
    strings.set_first(stacks_.next_string());
    Variants variants;
    variants.set_first(0);
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < captured.size() + others; ++i) {
      strings.add_values("kernel_" + std::to_string(i));
      variants.add_name(strings.first() + i);
      for (auto* field :
           {variants.mutable_grid_x(), variants.mutable_grid_y(), variants.mutable_grid_z(),
            variants.mutable_block_x(), variants.mutable_block_y(), variants.mutable_block_z()}) {
        field->Add(1);
      }
      variants.add_graph(3);
      variants.add_graph_node(uint64_t{3} << 32 | (i + 1));
      variants.add_captured_stack(i < captured.size() ? captured[i] : 0);
      launches.push_back(RunBuilder::LaunchAt(10 * i * kNodeNs, kNodeNs, i));
      launches.back().stack = main_;
    }
    run_.Send(1, FRAME_STRINGS, strings);
    run_.Send(1, FRAME_VARIANTS, variants);
    run_.SendLaunches(launches, 1, 7, 9);
    std::map<std::string, double> times;
    const OwnersSummary owners = run_.EndRun(1'000'000).owners();
    for (const OwnerSummary& row : owners.layers()) {
      if (row.own_time_ns() == 0) continue;
      times[row.name() + (row.inferred_time_ns() > 0 ? " (inferred)" : "")] =
          row.own_time_ns() / kNodeNs;
    }
    return times;
  }

  using Times = std::map<std::string, double>;

  RunBuilder run_;
  MadeUpStacks stacks_{1};
  uint32_t main_ = 0;
};

TEST_F(ChildGraphsTest, KernelsOfLibrariesBelongToTheInstructionsThatAreLeft) {
  Instruction("x", stacks_.Function(0, "other", "/home/me/train.py", 9));
  Instruction("a", main_);
  const uint32_t b = Instruction("b", main_);
  Instruction("c", main_);
  const uint32_t d = Instruction("d", main_);
  Instruction("x", stacks_.Function(0, "third", "/home/me/train.py", 11));
  EXPECT_EQ(TimesOf({b, d}, 2),
            (Times{{"a (inferred)", 1}, {"b", 1}, {"c (inferred)", 1}, {"d", 1}}));
}

TEST_F(ChildGraphsTest, AsManyKernelsAsInstructionsOrNone) {
  Instruction("a", main_);
  const uint32_t b = Instruction("b", main_);
  const uint32_t c = Instruction("c", main_);
  EXPECT_EQ(TimesOf({b, c}, 2), (Times{{"(outside of layers)", 2}, {"b", 1}, {"c", 1}}));
}

TEST_F(ChildGraphsTest, NodesOfOtherProgramsAreLeftAlone) {
  const uint32_t module = stacks_.Module(main_, "", "Model");
  const uint32_t first = stacks_.Function(module, "forward", "/home/me/model.py", 41);
  Instruction("a", main_);
  EXPECT_EQ(TimesOf({first}, 1), (Times{{"(outside of layers)", 1}, {"Model", 1}}));
}

}  // namespace
}  // namespace utlz
