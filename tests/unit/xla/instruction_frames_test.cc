#include "collector/xla/instruction_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string TextOf(const StackFrame& frame) {
  switch (frame.kind) {
    case STACK_FRAME_FUNCTION:
      return frame.name + " " + frame.file.substr(frame.file.rfind('/') + 1) + ":" +
             std::to_string(frame.line);
    case STACK_FRAME_MODULE:
      return "<" + frame.name + " " + frame.module_class + (frame.inferred ? " ~>" : ">");
    case STACK_FRAME_XLA_INSTRUCTION:
      return "[" + frame.name + "] " + frame.module_class;
    default:
      return frame.name;
  }
}

std::vector<std::string> FramesOf(const std::string& title, const std::string& locations,
                                  const std::string& op_name, size_t most = 192) {
  std::vector<std::string> texts;
  for (const StackFrame& frame : FramesOfInstruction({title, locations, op_name}, most)) {
    EXPECT_TRUE(frame.of_xla);
    texts.push_back(TextOf(frame));
  }
  return texts;
}

std::string Title(const std::string& name, const std::string& instruction) {
  return "Thunk:#name=" + name + ",hlo_op=" + instruction + ",unique_hlo_op_id=506806141015#";
}

const std::string kFlax = "/opt/venv/lib/python3.12/site-packages/flax";
const std::string kUp =
    "\n- /home/me/train.py:31:18[step]\n-- /home/me/train.py:27:13[loss_of]\n"
    "--- /home/me/model.py:21:16[Model.__call__]\n---- /home/me/model.py:15:19[Block.__call__]\n"
    "----- /home/me/model.py:7:12[make_mlp.&lt;locals&gt;.Mlp.__call__]\n"
    "------ " +
    kFlax + "/linen/linear.py:287:8[Dense.__call__]\n";

TEST(InstructionFramesTest, ModulesStandBeforeTheirCalls) {
  const std::string name = "jit(step)/transpose(jvp(Model))/block_3/mlp/up/dot_general";
  EXPECT_THAT(
      FramesOf(Title(name, "gemm_fusion_dot.44"), kUp, name),
      ElementsAre("step train.py:31", "loss_of train.py:27", "< Model>",
                  "Model.__call__ model.py:21", "<block_3 Block>", "Block.__call__ model.py:15",
                  "<block_3.mlp Mlp>", "make_mlp.<locals>.Mlp.__call__ model.py:7",
                  "<block_3.mlp.up Dense>", "Dense.__call__ linear.py:287", "(backward)",
                  "[dot_general] gemm_fusion_dot.44"));
}

TEST(InstructionFramesTest, WhereCallsAndModulesDifferClassesAreNotKnown) {
  const std::string name = "jit(step)/jvp(Model)/block_3/mlp/dot_general";
  EXPECT_THAT(
      FramesOf(Title(name, "dot.1"), "\n- a.py:1:1[step]\n-- a.py:9:1[Model.__call__]\n", name),
      ElementsAre("step a.py:1", "Model.__call__ a.py:9", "< Model>", "<block_3 >",
                  "<block_3.mlp >", "[dot_general] dot.1"));
  const std::string head = "jit(step)/jvp(Model)/mul";
  EXPECT_THAT(
      FramesOf(Title(head, "mul.1"), "\n- a.py:1:1[Loss.__call__]\n-- a.py:9:1[Model.__call__]\n",
               head),
      ElementsAre("Loss.__call__ a.py:1", "Model.__call__ a.py:9", "< Model>", "[mul] mul.1"));
}

// A class of Flax calls that of its base; a method calls another one, and then another module.
TEST(InstructionFramesTest, AModuleThatCallsItselfIsOne) {
  const std::string name = "jit(f)/Model/attention/attention/key/mul";
  EXPECT_THAT(FramesOf(Title(name, "mul.1"),
                       "\n- a.py:1:1[Model.__call__]\n-- b.py:2:1[SelfAttention.__call__]\n"
                       "--- b.py:3:1[MultiHead.__call__]\n---- b.py:4:1[Dense.__call__]\n",
                       name),
              ElementsAre("< Model>", "Model.__call__ a.py:1", "<attention SelfAttention>",
                          "SelfAttention.__call__ b.py:2", "MultiHead.__call__ b.py:3",
                          "<attention.key Dense>", "Dense.__call__ b.py:4", "[mul] mul.1"));
  const std::string method = "jit(f)/Model/Model.encode/encoder.run/encoder/mul";
  EXPECT_THAT(
      FramesOf(Title(method, "mul.1"),
               "\n- a.py:1:1[Model.__call__]\n-- a.py:2:1[Model.encode]\n"
               "--- b.py:3:1[Encoder.run]\n---- b.py:4:1[Encoder.__call__]\n",
               method),
      ElementsAre("< Model>", "Model.__call__ a.py:1", "Model.encode a.py:2", "Encoder.run b.py:3",
                  "<encoder Encoder>", "Encoder.__call__ b.py:4", "[mul] mul.1"));
}

TEST(InstructionFramesTest, WithoutNamesClassesStandForModules) {
  const std::string name = "jit(step)/jvp()/dot_general";
  EXPECT_THAT(
      FramesOf(Title(name, "dot.1"),
               "\n- train.py:24:18[step]\n-- " + kFlax +
                   "/nnx/graphlib.py:2114:15[UpdateContextManager.__call__.&lt;locals&gt;.wrapper]"
                   "\n--- " +
                   kFlax + "/nnx/transforms/autodiff.py:122:10[GradFn.__call__]\n" +
                   "---- train.py:17:16[Model.__call__]\n----- train.py:10:29[Block.__call__]\n" +
                   "------ " + kFlax + "/nnx/nn/linear.py:422:8[Linear.__call__]\n",
               name),
      ElementsAre("step train.py:24",
                  "UpdateContextManager.__call__.<locals>.wrapper "
                  "graphlib.py:2114",
                  "GradFn.__call__ autodiff.py:122", "< Model ~>", "Model.__call__ train.py:17",
                  "<Block Block ~>", "Block.__call__ train.py:10", "<Block.Linear Linear ~>",
                  "Linear.__call__ linear.py:422", "[dot_general] dot.1"));
}

// The line of "sub" is not there: it was cut, or XLA does not know it.
TEST(InstructionFramesTest, ModulesOfOtherOperationsAreNotTaken) {
  const std::string locations =
      "\n- a.py:1:1[step]\n-- a.py:9:1[Model.__call__]\n--- a.py:5:1[Mlp.__call__] mul\n";
  EXPECT_THAT(FramesOf(Title("jit(step)", "fusion.1"), locations, "jit(step)/sub"),
              ElementsAre("step a.py:1", "Model.__call__ a.py:9", "Mlp.__call__ a.py:5",
                          "[mul, sub] fusion.1"));
  EXPECT_THAT(FramesOf(Title("jit(step)", "fusion.1"), locations, "jit(step)/Net/head/sub"),
              ElementsAre("step a.py:1", "Model.__call__ a.py:9", "Mlp.__call__ a.py:5", "< Net>",
                          "<head >", "[mul, sub] fusion.1"));
}

TEST(InstructionFramesTest, AFusionHasAllOperationsAndThePlaceOfItsOwn) {
  EXPECT_THAT(FramesOf(Title("jit(step)/jvp(Model)/mlp", "loop_multiply_fusion.3"),
                       "\n- a.py:1:1[step]\n-- a.py:7:12[Model.__call__]\n"
                       "--- b.py:9:1[Mlp.__call__] tanh\n--- b.py:8:1[Mlp.__call__] mul\n"
                       "--- b.py:8:1[Mlp.__call__] add\n--- b.py:8:1[Mlp.__call__] up/add\n",
                       "jit(step)/jvp(Model)/mlp/mul"),
              ElementsAre("step a.py:1", "< Model>", "Model.__call__ a.py:7", "<mlp Mlp>",
                          "Mlp.__call__ b.py:8", "[add, mul, tanh] loop_multiply_fusion.3"));
}

TEST(InstructionFramesTest, WithoutAnOpNameTheCommonNameCounts) {
  EXPECT_THAT(
      FramesOf(Title("jit(step)/transpose(jvp(Model))/mlp", "loop_fusion"),
               "\n- a.py:8:1[f] mul\n- a.py:9:1[f] tanh\n", ""),
      ElementsAre("f a.py:8", "< Model>", "<mlp >", "(backward)", "[mul, tanh] loop_fusion"));
  // Without locations it is the whole name.
  EXPECT_THAT(FramesOf(Title("jit(step)/Model/mlp/mul", "mul.2"), "\n", ""),
              ElementsAre("< Model>", "<mlp >", "[mul] mul.2"));
  // Its begin may be missing, so that its first name need not be the model.
  EXPECT_THAT(FramesOf(Title("mlp/mul", "mul.2"), "\n", ""), ElementsAre("[mul] mul.2"));
}

TEST(InstructionFramesTest, WithoutOperationsTheInstructionStandsForThem) {
  EXPECT_THAT(FramesOf("Thunk:#hlo_op=copy.3,unique_hlo_op_id=9#", "\n", ""),
              ElementsAre("[copy] copy.3"));
  EXPECT_THAT(FramesOf(Title("tokens", "copy.3"), "\n", "tokens"), ElementsAre("[copy] copy.3"));
  EXPECT_THAT(FramesOf("XlaModule:#hlo_module=jit_step,program_id=5974#", "", ""),
              ElementsAre("[] jit_step"));
  EXPECT_THAT(FramesOf("", "", ""), ElementsAre("[] "));
}

TEST(InstructionFramesTest, ArgumentsOfAFusionAreNoOperations) {
  EXPECT_THAT(FramesOf("Thunk:#hlo_op=fusion.3,unique_hlo_op_id=9#",
                       "\n- a.py:8:1[f] jit(f)/mul\n- a.py:8:1[f] tokens\n", "jit(f)/mul"),
              ElementsAre("f a.py:8", "[mul] fusion.3"));
}

TEST(InstructionFramesTest, WithNothingInCommonTheModulesAreThoseAroundAll) {
  EXPECT_THAT(
      FramesOf("Thunk:#hlo_op=fusion.3,unique_hlo_op_id=9#",
               "\n- a.py:1:1[step]\n-- a.py:7:12[Model.__call__]\n"
               "--- b.py:8:1[Block.__call__] jit(f)/transpose(jvp(Model))/block/norm/sub\n"
               "--- b.py:9:1[Block.__call__] jit(f)/transpose(jvp(Model))/block/mlp/exp\n"
               "- a.py:1:2[step] reduce_max\n",
               ""),
      ElementsAre("step a.py:1", "< Model>", "<block >", "(backward)", "[exp, sub] fusion.3"));
}

TEST(InstructionFramesTest, RecomputationIsMarked) {
  const std::string name = "jit(f)/transpose(jvp(Model))/checkpoint/rematted_computation/mlp/mul";
  EXPECT_THAT(FramesOf(Title(name, "mul.1"), "\n", name),
              ElementsAre("< Model>", "<mlp >", "(recomputation)", "[mul] mul.1"));
}

TEST(InstructionFramesTest, TheOutermostFunctionsAreLeftOut) {
  const std::string name = "jit(step)/transpose(jvp(Model))/block_3/mlp/up/dot_general";
  EXPECT_THAT(FramesOf(Title(name, "dot.1"), kUp, name, 8),
              ElementsAre("< Model>", "<block_3 Block>", "<block_3.mlp Mlp>",
                          "make_mlp.<locals>.Mlp.__call__ model.py:7", "<block_3.mlp.up Dense>",
                          "Dense.__call__ linear.py:287", "(backward)", "[dot_general] dot.1"));
  EXPECT_THAT(FramesOf(Title(name, "dot.1"), kUp, name, 1), ElementsAre("[dot_general] dot.1"));
}

TEST(InstructionFramesTest, ListsOfOperationsAreBounded) {
  std::string locations = "\n";
  for (int i = 100; i < 200; ++i) {
    locations += "- a.py:1:1[f] operation_" + std::to_string(i) + "\n";
  }
  const std::vector<StackFrame> frames =
      FramesOfInstruction({Title("jit(f)", "fusion.1"), locations, "jit(f)/add"}, 192);
  const std::string& name = frames.back().name;
  EXPECT_LE(name.size(), kMaxXlaOperationsBytes);
  EXPECT_TRUE(name.starts_with("add, operation_100, operation_101, ")) << name;
  EXPECT_TRUE(name.ends_with(", …")) << name;
}

}  // namespace
}  // namespace utlz
