// Whose the work of compiled JAX programs is: by what XLA says of the instruction that was
// launched.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/made_up_loads.h"
#include "tests/support/made_up_stacks.h"
#include "tests/unit/summary/owner_rows.h"

namespace utlz {
namespace {

const std::string kPackages = "/opt/venv/lib/python3.12/site-packages";

double OwnTimeOf(const Rows& rows, const std::string& name) {
  const OwnerSummary* row = RowNamed(rows, name);
  return row == nullptr ? -1 : row->own_time_ns();
}

class XlaOwnersTest : public ::testing::Test {
 protected:
  XlaOwnersTest() {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels({"gemm_fusion_dot_44", "loop_multiply_fusion"});
    call_ = stacks_.Function(stacks_.Function(0, "main", "/home/me/train.py", 54), "cache_miss",
                             kPackages + "/jax/_src/pjit.py", 100);
  }

  // An instruction of the block of this number, which calls Dense of Flax.
  uint32_t Up(int block, const std::string& around) {
    const std::string name = "jit(step)/" + around + "/block_" + std::to_string(block) + "/up/dot";
    return stacks_.Instruction(call_, name, "gemm_fusion_dot." + std::to_string(block),
                               "\n- /home/me/train.py:31:18[step]\n"
                               "-- /home/me/model.py:21:16[Model.__call__]\n"
                               "--- /home/me/model.py:15:19[Block.__call__]\n---- " +
                                   kPackages + "/flax/linen/linear.py:287:8[Dense.__call__]\n",
                               name);
  }

  // Each launch takes 100 ns.
  Summary Launch(const std::vector<uint32_t>& stacks) {
    stacks_.SendTo(&run_);
    std::vector<utlz::Launch> launches;
    for (const uint32_t stack : stacks) {
      launches.push_back(RunBuilder::LaunchAt(200 * launches.size(), 100, 0));
      launches.back().stack = stack;
    }
    run_.SendLaunches(launches);
    return run_.EndRun(kMillisecond);
  }

  RunBuilder run_;
  MadeUpStacks stacks_{3};
  uint32_t call_ = 0;
};

TEST_F(XlaOwnersTest, WhatXlaTriesIsAutotuning) {
  const uint32_t trial = stacks_.Push(call_, STACK_FRAME_XLA_INSTRUCTION,
                                      "XlaModule:#hlo_module=gemm_fusion_dot.44#", "", 0);
  const uint32_t program = stacks_.Push(call_, STACK_FRAME_XLA_INSTRUCTION,
                                        "XlaModule:#hlo_module=jit_step,program_id=7#", "", 0);
  const OwnersSummary owners = Launch({trial, trial, program}).owners();
  EXPECT_EQ(OwnTimeOf(owners.layers(), "(autotuning)"), 200);
  EXPECT_EQ(OwnTime(owners.layers()), 300);
  EXPECT_NEAR(owners.autotuning_share(), 2.0 / 3, 1e-9);
}

TEST_F(XlaOwnersTest, ModulesOfFlaxAreLayers) {
  const Summary summary = Launch({Up(0, "jvp(Model)"), Up(1, "jvp(Model)"),
                                  Up(1, "transpose(jvp(Model))"), Up(10, "jvp(Model)")});
  const OwnersSummary& owners = summary.owners();
  EXPECT_EQ(OwnTimeOf(owners.layers(), "block_1.up"), 200);
  const OwnerSummary* layer = RowNamed(owners.layers(), "block_1.up");
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->model(), "Model");
  EXPECT_EQ(layer->module_class(), "Dense");
  EXPECT_EQ(layer->own_backward_time_ns(), 100);
  EXPECT_EQ(layer->inferred_time_ns(), 0);
  EXPECT_EQ(owners.layer_share(), 1);
  EXPECT_EQ(owners.inferred_share(), 0);
  EXPECT_FALSE(owners.has_note()) << owners.note();
  EXPECT_EQ(OwnTime(owners.layers()), owners.time_ns());
}

// Flax numbers modules at the end of their names.
TEST_F(XlaOwnersTest, RepeatedModulesAreSummed) {
  const Summary summary =
      Launch({Up(0, "jvp(Model)"), Up(1, "jvp(Model)"), Up(10, "transpose(jvp(Model))")});
  const Rows& rows = summary.owners().repeated_layers();
  const OwnerSummary* up = RowNamed(rows, "block_*.up");
  ASSERT_NE(up, nullptr);
  EXPECT_EQ(up->instances(), 3u);
  EXPECT_EQ(up->own_time_ns(), 300);
  const OwnerSummary* block = RowNamed(rows, "block_*");
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->instances(), 3u);
  EXPECT_EQ(rows.size(), 3) << "Model, and these two";
}

TEST_F(XlaOwnersTest, LinesAreThoseOfTheProgram) {
  const Summary summary = Launch({Up(0, "jvp(Model)"), Up(1, "transpose(jvp(Model))")});
  const Rows& lines = summary.owners().lines();
  ASSERT_EQ(lines.size(), 1);
  EXPECT_EQ(lines.Get(0).name(), "model.py:15 Block.__call__");
  EXPECT_EQ(lines.Get(0).file(), "/home/me/model.py");
  EXPECT_EQ(summary.owners().line_share(), 1);
}

TEST_F(XlaOwnersTest, OperationsAreThoseOfTheInstruction) {
  const uint32_t fusion = stacks_.Instruction(
      call_, "jit(step)", "loop_multiply_fusion.3",
      "\n- /home/me/train.py:9:1[step] tanh\n- /home/me/train.py:8:1[step] mul\n", "jit(step)/mul");
  const uint32_t program = stacks_.Push(call_, STACK_FRAME_XLA_INSTRUCTION,
                                        "XlaModule:#hlo_module=jit_step,program_id=5974#", "", 0);
  const Summary summary = Launch({fusion, Up(0, "jvp(Model)"), program});
  const Rows& operations = summary.owners().operations();
  const OwnerSummary* row = RowNamed(operations, "mul + tanh");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->own_time_ns(), 100);
  EXPECT_EQ(row->origin(), "compiled_code");
  EXPECT_EQ(OwnTimeOf(operations, "dot"), 100);
  EXPECT_EQ(OwnTimeOf(operations, "gemm"), 100)
      << "the family: of a program alone nothing is known";
  EXPECT_EQ(OwnTime(operations), summary.owners().time_ns());
}

TEST_F(XlaOwnersTest, FunctionsOutsideOfModulesAreOwners) {
  const std::string name = "jit(step)/transpose(jvp())/mul";
  const uint32_t of_loss = stacks_.Instruction(
      call_, name, "mul.1",
      "\n- /home/me/train.py:48:26[main.&lt;locals&gt;.step]\n"
      "-- "
      "/home/me/train.py:43:16[main.&lt;locals&gt;.loss_of.&lt;locals&gt;.&lt;lambda&gt;]\n--- " +
          kPackages + "/jax/_src/nn/functions.py:9:1[gelu]\n",
      name);
  const auto from = [&](const std::string& function) {
    return stacks_.Instruction(call_, "jit(f)/sub", "sub.1",
                               "\n- /home/me/train.py:9:1[" + function + "]\n", "jit(f)/mul");
  };
  // Whose own line is not known.
  const uint32_t call = from("run.&lt;locals&gt;.Policy.__call__");
  const uint32_t nested = from("run.&lt;locals&gt;.__wrapped");
  const uint32_t at_top =
      stacks_.Instruction(call_, "jit(add)/add", "add.1",
                          "\n- /home/me/train.py:71:4[&lt;module&gt;]\n", "jit(add)/add");
  const uint32_t copy = stacks_.Instruction(call_, "tokens", "copy.1", "\n", "tokens");
  const Summary summary = Launch({of_loss, at_top, copy, Up(0, "jvp(Model)"), call, nested,
                                  Up(1, "jvp(Model)"), Up(2, "jvp(Model)")});
  const OwnersSummary& owners = summary.owners();
  const OwnerSummary* row = RowNamed(owners.layers(), "(function loss_of)");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->kind(), "function");
  EXPECT_EQ(row->own_time_ns(), 100);
  EXPECT_EQ(row->own_backward_time_ns(), 100);
  EXPECT_EQ(OwnTimeOf(owners.layers(), "(outside of layers)"), 200) << "main only launched them";
  EXPECT_EQ(RowNamed(owners.layers(), "(function step)"), nullptr) << "a layer's";
  EXPECT_EQ(OwnTimeOf(owners.layers(), "(function Policy.__call__)"), 100);
  EXPECT_EQ(OwnTimeOf(owners.layers(), "(function __wrapped)"), 100);
  EXPECT_NEAR(owners.function_share(), 3.0 / 8, 1e-12);
}

TEST_F(XlaOwnersTest, OptaxIsAnOptimizer) {
  const auto from = [&](const std::string& file) {
    return stacks_.Instruction(call_, "jit(step)/mul", "mul.1",
                               "\n- /home/me/train.py:50:8[step]\n-- " + kPackages + file,
                               "jit(step)/mul");
  };
  const uint32_t optimizer =
      from("/optax/_src/transform.py:9:1[scale_by_adam.&lt;locals&gt;.update_fn]\n");
  const uint32_t loss = from("/optax/losses/_classification.py:9:1[softmax_cross_entropy]\n");
  const Summary summary = Launch({optimizer, loss});
  const OwnersSummary& owners = summary.owners();
  EXPECT_EQ(OwnTimeOf(owners.layers(), "(optimizer optax)"), 100);
  EXPECT_EQ(OwnTimeOf(owners.layers(), "(function step)"), 100);
  EXPECT_EQ(owners.lines_size(), 1);
  EXPECT_EQ(OwnTimeOf(owners.lines(), "train.py:50 step"), 200);
  EXPECT_NEAR(owners.optimizer_share(), 0.5, 1e-12);
}

// NNX names no modules. That a layer was concluded says nothing of its line.
TEST_F(XlaOwnersTest, ModulesByClassAreInferred) {
  const uint32_t linear = stacks_.Instruction(
      call_, "jit(step)/jvp()/dot", "dot.1",
      "\n- /home/me/train.py:17:16[Model.__call__]\n-- /home/me/train.py:10:29[Block.__call__]\n"
      "--- " +
          kPackages + "/flax/nnx/nn/linear.py:422:8[Linear.__call__]\n",
      "jit(step)/jvp()/dot");
  const Summary summary = Launch({linear});
  const OwnersSummary& owners = summary.owners();
  const OwnerSummary* row = RowNamed(owners.layers(), "Block.Linear");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->model(), "Model");
  EXPECT_EQ(row->inferred_time_ns(), 100);
  EXPECT_EQ(owners.layer_share(), 0);
  EXPECT_EQ(owners.inferred_share(), 1);
  EXPECT_EQ(owners.lines(0).name(), "train.py:10 Block.__call__");
  EXPECT_EQ(owners.lines(0).inferred_time_ns(), 0);
}

// Where functions and modules differ in number, the class of the module is not known. Whichever
// comes first, what is known counts.
TEST_F(XlaOwnersTest, AClassThatIsKnownStays) {
  const auto without_class = [&](int block) {
    const std::string name = "jit(step)/jvp(Model)/block_" + std::to_string(block) + "/up/add";
    return stacks_.Instruction(call_, name, "add.1",
                               "\n- /home/me/model.py:21:16[Model.__call__]\n", name);
  };
  const uint32_t known_first = Up(0, "jvp(Model)"), known_later = without_class(0);
  const uint32_t unknown_first = without_class(1), unknown_later = Up(1, "jvp(Model)");
  const Summary summary = Launch({known_first, known_later, unknown_first, unknown_later});
  for (const char* name : {"block_0.up", "block_1.up"}) {
    EXPECT_EQ(RowNamed(summary.owners().layers(), name)->module_class(), "Dense");
    EXPECT_EQ(OwnTimeOf(summary.owners().layers(), name), 200);
  }
}

// What a target wrote is shown as text; names that are none stand for no module.
TEST_F(XlaOwnersTest, AnyBytesAreShown) {
  const uint32_t stack =
      stacks_.Instruction(call_, "jit(f)/\xff\xfe/m\xc3/dot", "do\xfft.1",
                          "\n- /\xff.py:1:1[f\xfe]\n", "jit(f)/\xff\xfe/m\xc3/dot");
  const Summary summary = Launch({stack});
  std::string bytes;
  EXPECT_TRUE(summary.SerializeToString(&bytes));
  EXPECT_EQ(OwnTime(summary.owners().layers()), 100);
  EXPECT_EQ(OwnTime(summary.owners().operations()), 100);
}

}  // namespace
}  // namespace utlz
