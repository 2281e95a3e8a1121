// Parts of code that torch.compile generated, as rows of the layer that calls it.
#include "collector/owners/compiled_parts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/made_up_loads.h"
#include "tests/support/made_up_stacks.h"
#include "tests/support/run_builder.h"
#include "tests/unit/summary/owner_rows.h"

namespace utlz {
namespace {

using Names = std::vector<std::string>;

constexpr char kForwardFile[] =
    "/tmp/torchinductor_me/yj/cyj5p2kkcxivwprsssdwak2bkle6lazyybdftc6ag4o3mjkapuhz.py";
constexpr char kBackwardFile[] =
    "/tmp/torchinductor_me/qq/cqq2qltqn2jrasrwzrow73iqbwzt5izb7imxfjkozwyh4bpcjw5r.py";
constexpr uint32_t kLayers = 6;
// A layer's launches, forward and backward, each with its kernel.
const Names kForward = {"aten.addmm", "aten._softmax", "aten.addmm",
                        "aten.add, aten.native_layer_norm"};
const Names kBackward = {"aten.mm", "aten.sum", "aten.sum", "aten.native_layer_norm_backward"};
constexpr uint64_t kCompiledKernelNs = 1000, kGapNs = 10;

// The first of that name; an empty one, and a failure, where there is none.
const OwnerSummary& SureRow(const Rows& rows, const std::string& name) {
  for (const OwnerSummary& row : rows) {
    if (row.name() == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return OwnerSummary::default_instance();
}

Names NamesOf(const Rows& rows) {
  Names names;
  for (const OwnerSummary& row : rows) names.push_back(row.name());
  return names;
}

void ExpectSums(const OwnersSummary& owners, const Rows& rows) {
  double time_ns = 0, idle_ns = 0, inferred_ns = 0;
  std::vector<double> inside(static_cast<size_t>(rows.size()));
  for (int i = rows.size(); i-- > 0;) {
    const OwnerSummary& row = rows.Get(i);
    EXPECT_EQ(inside[static_cast<size_t>(i)] + row.own_time_ns(), row.time_ns()) << row.name();
    if (row.has_parent()) inside[static_cast<size_t>(row.parent())] += row.time_ns();
    time_ns += row.own_time_ns();
    idle_ns += row.own_idle_before_ns();
    if (row.kind() == "part" || row.kind() == "repeated_part") {
      EXPECT_EQ(row.inferred_time_ns(), row.time_ns()) << row.name();
      inferred_ns += row.own_time_ns();
    } else {
      EXPECT_EQ(row.inferred_time_ns(), 0) << row.name() << " was seen";
    }
  }
  EXPECT_EQ(time_ns, owners.time_ns());
  EXPECT_EQ(idle_ns, owners.idle_time_ns());
  // Of parts whose layer was seen, coverage says that.
  EXPECT_LE(owners.inferred_share() * owners.time_ns(), inferred_ns + 1e-3);
}

// A compiled model whose files have a launch every tenth line.
class CompiledPartsTest : public ::testing::Test {
 protected:
  CompiledPartsTest() {
    run_.StartRun();
    run_.StartProcess();
    step_ = stacks_.Function(0, "step", "/home/me/train.py", 22);
    model_ = stacks_.Module(step_, "_orig_mod", "OptimizedModule");
  }

  // The file's launches and what stands beside them; kernels are as these are.
  void AddFile(const std::string& file, const Names& operations, uint32_t around) {
    for (size_t i = 0; i < operations.size(); ++i) {
      AddLaunch(file, static_cast<uint32_t>(10 * (i + 1)), operations[i], around);
    }
    files_[file] = operations;
  }

  void AddLaunch(const std::string& file, uint32_t line, const std::string& kernel,
                 uint32_t around) {
    const uint32_t call = stacks_.Function(around, "Runner.call", file, line);
    places_.push_back(
        stacks_.Function(call, "run", "/usr/lib/python3/dist-packages/torch/_inductor/run.py", 9));
    const auto [known, is_new] =
        variants_.try_emplace(kernel, static_cast<uint32_t>(variants_.size()));
    if (is_new) kernels_.push_back("kernel_" + std::to_string(known->second));
    launched_.push_back(known->second);
  }

  uint32_t Backward() { return stacks_.Pass(model_, STACK_FRAME_BACKWARD); }

  // `with_operations`: the agent has read the files.
  OwnersSummary Run(bool with_operations = true, int passes = 3) {
    stacks_.SendTo(&run_);
    uint32_t next_string = stacks_.next_string();
    SendKernels(&next_string);
    for (const auto& [file, operations] : files_) {
      if (with_operations) SendOperations(file, operations, &next_string);
    }
    uint64_t now_ns = kMillisecond;
    std::vector<Launch> launches;
    for (int pass = 0; pass < passes; ++pass) {
      for (size_t i = 0; i < places_.size(); ++i) {
        launches.push_back(RunBuilder::LaunchAt(now_ns, kCompiledKernelNs + i, launched_[i]));
        launches.back().stack = places_[i];
        now_ns += kCompiledKernelNs + i + kGapNs;
      }
    }
    run_.SendLaunches(launches);
    OwnersSummary owners = run_.EndRun(now_ns + kMillisecond).owners();
    ExpectSums(owners, owners.layers());
    return owners;
  }

  void SendKernels(uint32_t* next_string) {
    Strings strings;
    strings.set_first(*next_string);
    Variants variants;
    variants.set_first(0);
    for (const std::string& kernel : kernels_) {
      variants.add_name((*next_string)++);
      strings.add_values(kernel);
      for (auto* field :
           {variants.mutable_grid_x(), variants.mutable_grid_y(), variants.mutable_grid_z(),
            variants.mutable_block_x(), variants.mutable_block_y(), variants.mutable_block_z()}) {
        field->Add(1);
      }
      variants.add_graph_node(0);
    }
    run_.Send(1, FRAME_STRINGS, strings);
    run_.Send(1, FRAME_VARIANTS, variants);
  }

  void SendOperations(const std::string& file, const Names& operations, uint32_t* next_string) {
    Strings strings;
    strings.set_first(*next_string);
    strings.add_values(file);
    CompiledCode code;
    code.set_file((*next_string)++);
    for (size_t i = 0; i < operations.size(); ++i) {
      strings.add_values(operations[i]);
      code.add_line(static_cast<uint32_t>(10 * (i + 1)));
      code.add_lines(2);
      code.add_operations((*next_string)++);
    }
    run_.Send(1, FRAME_STRINGS, strings);
    run_.Send(1, FRAME_COMPILED_CODE, code);
  }

  static Names Layers(const Names& before, uint32_t times, const Names& layer, const Names& after) {
    Names all = before;
    for (uint32_t i = 0; i < times; ++i) all.insert(all.end(), layer.begin(), layer.end());
    all.insert(all.end(), after.begin(), after.end());
    return all;
  }

  RunBuilder run_;
  MadeUpStacks stacks_{1};
  uint32_t step_ = 0, model_ = 0;
  std::map<std::string, Names> files_;
  std::vector<uint32_t> places_, launched_;  // stacks, and the variants that they launch
  std::map<std::string, uint32_t> variants_;
  Names kernels_;
};

TEST_F(CompiledPartsTest, WhatRepeatsInAFileStandsBelowTheModel) {
  AddFile(kForwardFile,
          Layers({"aten.embedding", "aten.native_layer_norm"}, kLayers, kForward, {"aten.mm"}),
          model_);
  const OwnersSummary owners = Run();
  EXPECT_EQ(NamesOf(owners.layers()),
            (Names{"OptimizedModule", "_orig_mod", "(start)", "(start) 1 embedding",
                   "(start) 2 native_layer_norm", "(repeated part)", "(part) 1 addmm",
                   "(part) 2 _softmax", "(part) 3 addmm", "(part) 4 add + native_layer_norm",
                   "(end)", "(end) 1 mm"}));
  const OwnerSummary& part = SureRow(owners.layers(), "(repeated part)");
  EXPECT_EQ(part.kind(), "repeated_part");
  EXPECT_EQ(part.model(), "OptimizedModule");
  EXPECT_EQ(part.instances(), kLayers);
  EXPECT_EQ(part.launches(), 3 * kLayers * kForward.size());
  EXPECT_EQ(part.own_time_ns(), 0);
  EXPECT_GT(part.idle_before_ns(), 0);
  EXPECT_EQ(SureRow(owners.layers(), "(part) 1 addmm").launches(), 3 * kLayers);
  EXPECT_EQ(SureRow(owners.layers(), "(start)").kind(), "part");
  EXPECT_FALSE(SureRow(owners.layers(), "(end)").has_instances());
  EXPECT_NEAR(owners.layer_share(), 1, 1e-9) << "the compiled model was seen";
  EXPECT_EQ(owners.inferred_share(), 0);
}

TEST_F(CompiledPartsTest, TheBackwardPassStandsApart) {
  AddFile(kForwardFile, Layers({"aten.embedding"}, kLayers, kForward, {"aten.mm"}), model_);
  AddFile(kBackwardFile, Layers({"aten.mm"}, kLayers, kBackward, {}), Backward());
  const OwnersSummary owners = Run();
  const OwnerSummary& forward = SureRow(owners.layers(), "(repeated part)");
  const OwnerSummary& backward = SureRow(owners.layers(), "(backward repeated part)");
  EXPECT_FALSE(forward.has_backward_time_ns());
  EXPECT_EQ(backward.backward_time_ns(), backward.time_ns());
  EXPECT_EQ(backward.instances(), kLayers);
  const OwnerSummary& sums = SureRow(owners.layers(), "(backward part) 2 sum");
  EXPECT_EQ(sums.launches(), 3 * 2 * kLayers) << "neighbours of one operation are one part";
  const Names names = NamesOf(owners.layers());
  EXPECT_LT(std::find(names.begin(), names.end(), "(end)"),
            std::find(names.begin(), names.end(), "(backward start)"));
}

TEST_F(CompiledPartsTest, TheFirstLayerMayBeFusedOtherwise) {
  Names operations = Layers({"aten.embedding"}, kLayers, kForward, {"aten.mm"});
  operations[2] = "aten._softmax, aten.embedding";
  AddFile(kForwardFile, operations, model_);
  const OwnersSummary owners = Run();
  const OwnerSummary& part = SureRow(owners.layers(), "(repeated part)");
  EXPECT_EQ(part.instances(), kLayers);
  EXPECT_EQ(part.own_launches(), 3) << "in the part, and none of its operations";
  EXPECT_EQ(SureRow(owners.layers(), "(part) 2 _softmax").launches(), 3 * (kLayers - 1));
}

TEST_F(CompiledPartsTest, ALineThatClearsMemoryIsWhereItsNeighboursAre) {
  AddFile(kForwardFile, Layers({"aten.embedding"}, kLayers, kForward, {"aten.mm"}), model_);
  AddLaunch(kForwardFile, 45, "fill", model_);   // between two launches of a layer
  AddLaunch(kForwardFile, 15, "fill", model_);   // between what is before and the first layer
  AddLaunch(kForwardFile, 900, "fill", model_);  // after all
  const OwnersSummary owners = Run();
  EXPECT_EQ(SureRow(owners.layers(), "(repeated part)").own_launches(), 3);
  EXPECT_EQ(SureRow(owners.layers(), "_orig_mod").own_launches(), 2 * 3);
  EXPECT_GT(owners.layer_share(), 0);
}

TEST_F(CompiledPartsTest, OfAFileThatNobodyReadKernelsTellTheParts) {
  AddFile(kForwardFile, Layers({"aten.embedding"}, kLayers, kForward, {"aten.mm"}), model_);
  kernels_[1] = "my_gemm";
  kernels_[2] = "triton_poi_fused_gelu_3";
  const OwnersSummary owners = Run(false);
  const OwnerSummary& part = SureRow(owners.layers(), "(repeated part)");
  EXPECT_EQ(part.instances(), kLayers);
  EXPECT_EQ(SureRow(owners.layers(), "(part) 1 gemm").launches(), 3 * kLayers);
  EXPECT_EQ(SureRow(owners.layers(), "(part) 2 gelu").launches(), 3 * kLayers);
}

TEST_F(CompiledPartsTest, VariantsThatACompilerTriedAreNoLaunchesOfAFile) {
  AddFile(kForwardFile, Layers({"aten.embedding"}, kLayers, kForward, {"aten.mm"}), model_);
  for (uint32_t layer = 0; layer < kLayers; ++layer) {
    const uint32_t call = stacks_.Function(model_, "Runner.call", kForwardFile, 20 + 40 * layer);
    places_.push_back(stacks_.Function(
        call, "CachingAutotuner.bench",
        "/usr/lib/python3/dist-packages/torch/_inductor/runtime/triton_heuristics.py", 9));
    launched_.push_back(layer % static_cast<uint32_t>(kernels_.size()));
  }
  const OwnersSummary owners = Run(false);
  const OwnerSummary& part = SureRow(owners.layers(), "(repeated part)");
  EXPECT_EQ(part.instances(), kLayers);
  EXPECT_EQ(SureRow(owners.layers(), "(autotuning)").launches(), 3 * kLayers);
}

TEST_F(CompiledPartsTest, PartsAreBounded) {
  Names start;
  for (uint32_t i = 0; i < 2 * CompiledParts::kMostParts; ++i) {
    start.push_back("aten.start" + std::to_string(i));
  }
  AddFile(kForwardFile, Layers(start, 600, kForward, {}), model_);
  const OwnersSummary owners = Run(true, 1);
  EXPECT_LE(owners.layers_size(), static_cast<int>(CompiledParts::kMostParts) + 2);
  EXPECT_GT(SureRow(owners.layers(), "(start)").own_launches(), 0) << "as a whole";
}

TEST_F(CompiledPartsTest, WhatDoesNotRepeatStaysWithTheModel) {
  AddFile(kForwardFile, {"aten.embedding", "aten.addmm", "aten.gelu", "aten.mm", "aten.sum"},
          model_);
  const OwnersSummary owners = Run();
  EXPECT_EQ(NamesOf(owners.layers()), (Names{"OptimizedModule", "_orig_mod"}));
  EXPECT_EQ(owners.layer_share(), 1);
  EXPECT_EQ(owners.inferred_share(), 0);
}

TEST_F(CompiledPartsTest, FilesOfOneModelForOtherSizesShareRows) {
  const Names operations = Layers({"aten.embedding"}, kLayers, kForward, {"aten.mm"});
  AddFile(kForwardFile, operations, model_);
  AddFile(kBackwardFile, operations, model_);
  const OwnersSummary owners = Run();
  EXPECT_EQ(SureRow(owners.layers(), "(part) 1 addmm").launches(), 3 * 2 * kLayers);
  int parts = 0;
  for (const OwnerSummary& row : owners.layers()) parts += row.name() == "(repeated part)" ? 1 : 0;
  EXPECT_EQ(parts, 1);
}

TEST_F(CompiledPartsTest, PassesHaveRowsOfTheirOwnAlsoWhereTheyAreAlike) {
  const Names operations = Layers({"aten.embedding"}, kLayers, kForward, {"aten.mm"});
  AddFile(kForwardFile, operations, model_);
  AddFile(kBackwardFile, operations, Backward());
  const OwnersSummary owners = Run();
  EXPECT_EQ(SureRow(owners.layers(), "(part) 1 addmm").launches(), 3 * kLayers);
  EXPECT_EQ(SureRow(owners.layers(), "(backward part) 1 addmm").launches(), 3 * kLayers);
}

TEST_F(CompiledPartsTest, OutsideOfLayersTooAFunctionsPartsAreShown) {
  AddFile(kForwardFile, Layers({"aten.embedding"}, kLayers, kForward, {"aten.mm"}), step_);
  const OwnersSummary owners = Run();
  const OwnerSummary& part = SureRow(owners.layers(), "(repeated part)");
  EXPECT_EQ(owners.layers(part.parent()).name(), "(outside of layers)");
  EXPECT_FALSE(part.has_model());
  EXPECT_EQ(owners.layer_share(), 0) << "no layer was seen";
  EXPECT_NEAR(owners.inferred_share(), 1, 1e-9);
}

TEST_F(CompiledPartsTest, LinesAndOperationsStayAsTheyAre) {
  AddFile(kForwardFile, Layers({"aten.embedding"}, kLayers, kForward, {"aten.mm"}), model_);
  const OwnersSummary owners = Run();
  ASSERT_EQ(owners.lines_size(), 1);
  EXPECT_EQ(owners.lines(0).name(), "train.py:22 step");
  EXPECT_EQ(owners.lines(0).inferred_time_ns(), 0);
  EXPECT_EQ(SureRow(owners.operations(), "addmm").launches(), 3 * 2 * kLayers);
  EXPECT_EQ(SureRow(owners.operations(), "addmm").inferred_time_ns(), 0);
}

// Whatever files there are, each row is what is inside it, and the sum of all is the run's.
TEST_F(CompiledPartsTest, SumsAreKept) {
  std::mt19937 random(3);
  const Names some = {"aten.add", "aten.mm", "aten.gelu", "aten.sum", "aten.mul", "aten.cat"};
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  const auto pick = [&](uint32_t count) {
    Names names;
    for (uint32_t i = 0; i < count; ++i) names.push_back(some[below(6)]);
    return names;
  };
  size_t with_parts = 0;
  for (int i = 0; i < 20; ++i) {
    std::string file = kForwardFile;
    file[file.size() - 10] = static_cast<char>('a' + i);
    Names operations = Layers(pick(below(6)), 1 + below(9), pick(2 + below(9)), pick(below(6)));
    for (uint32_t changes = below(3); changes > 0; --changes) {
      operations[random() % operations.size()] = "aten.foreign";
    }
    const uint32_t module = stacks_.Module(step_, "model" + std::to_string(i % 3), "Model");
    AddFile(file, operations, below(2) == 0 ? module : stacks_.Pass(module, STACK_FRAME_BACKWARD));
    if (below(2) == 0) AddLaunch(file, 25, "fill", module);
  }
  const OwnersSummary owners = Run();
  for (const OwnerSummary& row : owners.layers()) with_parts += row.kind() == "repeated_part";
  EXPECT_GT(with_parts, 5u);
  EXPECT_LE(owners.inferred_share() + owners.layer_share() + owners.ownerless_share(), 1 + 1e-9);
}

}  // namespace
}  // namespace utlz
