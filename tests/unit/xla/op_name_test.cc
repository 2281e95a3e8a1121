#include "collector/xla/op_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Methods other than __call__ in brackets.
std::vector<std::string> ScopesOf(const XlaOpName& name) {
  std::vector<std::string> scopes;
  for (const XlaScope& scope : name.scopes) {
    scopes.push_back(scope.is_call ? scope.name : "(" + scope.name + ")");
  }
  return scopes;
}

std::vector<std::string> ScopesIn(std::string_view op_name) {
  return ScopesOf(ParseXlaOpName(op_name));
}

TEST(OpNameTest, ModulesAreAroundTheOperation) {
  const XlaOpName name = ParseXlaOpName("jit(step)/jvp(Model)/block_3/mlp/up/dot_general");
  EXPECT_THAT(ScopesOf(name), ElementsAre("Model", "block_3", "mlp", "up"));
  EXPECT_EQ(name.operation, "dot_general");
  EXPECT_EQ(name.pass, XlaPass::kForward);
}

TEST(OpNameTest, TransposedOperationsAreOfABackwardPass) {
  const XlaOpName name = ParseXlaOpName("jit(step)/vmap(transpose(jvp(Model)))/head/dot_general");
  EXPECT_THAT(ScopesOf(name), ElementsAre("Model", "head"));
  EXPECT_EQ(name.pass, XlaPass::kBackward);
  EXPECT_EQ(ParseXlaOpName("jit(step)/transpose").pass, XlaPass::kForward) << "the operation";
}

TEST(OpNameTest, RematerializedOperationsAreRecomputed) {
  EXPECT_EQ(ParseXlaOpName("jit(f)/transpose(jvp(Model))/while/body/checkpoint/"
                           "rematted_computation/blocks/mul")
                .pass,
            XlaPass::kRecomputation);
  EXPECT_EQ(ParseXlaOpName("jit(f)/jvp(Model)/checkpoint/blocks/mul").pass, XlaPass::kForward);
  EXPECT_EQ(ParseXlaOpName("jit(f)/transpose(jvp(Model))/checkpoint/blocks/mul").pass,
            XlaPass::kBackward);
  EXPECT_EQ(ParseXlaOpName("jit(f)/checkpoint/rematted_computation/transpose(jvp())/mul").pass,
            XlaPass::kBackward);
}

TEST(OpNameTest, FunctionsAndControlFlowAreNoModules) {
  EXPECT_THAT(ScopesIn("jit(step)/pjit(main)/jvp(jit(loss))/jvp()/while/body/closed_call/cond/"
                       "branch_1_fun/branch_0/custom_vjp_call/shard_map/Model/jit(_take)/gather"),
              ElementsAre("Model"));
  EXPECT_THAT(ScopesIn("jit(step)/transpose(jvp())/mul"), IsEmpty());
  EXPECT_THAT(ScopesIn("jit(step)/Model/branch_x/branch_/mul"),
              ElementsAre("Model", "branch_x", "branch_"));
}

TEST(OpNameTest, EinsumsAreNoModules) {
  EXPECT_THAT(ScopesIn("jit(f)/jvp(Model)/attention/...hqk,...khd->...qhd/dot_general"),
              ElementsAre("Model", "attention"));
  EXPECT_THAT(ScopesIn("jit(f)/Model/bqhd,bkhd->bhqk/dot_general"), ElementsAre("Model"));
}

TEST(OpNameTest, MethodsBelongToTheirModule) {
  EXPECT_THAT(ScopesIn("jit(f)/transpose(jvp(Model.loss))/Model.encode/encoder/encoder.__call__/"
                       "layers.0/embed.attend/mul"),
              ElementsAre("(Model)", "(Model)", "encoder", "encoder", "layers.0", "(embed)"));
}

TEST(OpNameTest, EquinoxNamesNoModules) {
  EXPECT_THAT(ScopesIn("jit(f)/jvp(eqx.nn.Linear)/dot_general"), IsEmpty());
}

TEST(OpNameTest, AFunctionMayStandForTheOperation) {
  const XlaOpName name = ParseXlaOpName("jit(step)/jvp(jit(log_softmax))");
  EXPECT_EQ(name.operation, "log_softmax");
  EXPECT_THAT(name.scopes, IsEmpty());
  const XlaOpName module = ParseXlaOpName("jit(step)/jvp(Model)");
  EXPECT_EQ(module.operation, "");
  EXPECT_THAT(ScopesOf(module), ElementsAre("Model"));
  EXPECT_EQ(ParseXlaOpName("jit(f)/transpose[permutation=(1, 0)]").operation, "transpose");
}

TEST(OpNameTest, ArgumentsAreNoOperations) {
  for (const char* name : {"x", "params['params']['head']['kernel']", "model.states[0][1]",
                           "params['a/b']", "jit(step)", ""}) {
    const XlaOpName parsed = ParseXlaOpName(name);
    EXPECT_EQ(parsed.operation, "") << name;
    EXPECT_THAT(parsed.scopes, IsEmpty()) << name;
  }
}

TEST(OpNameTest, OfSeveralNamesTheFirstCounts) {
  const XlaOpName name = ParseXlaOpName("jit(f)/Model/a/mul;jit(f)/Other/b/add");
  EXPECT_THAT(ScopesOf(name), ElementsAre("Model", "a"));
  EXPECT_EQ(name.operation, "mul");
}

TEST(OpNameTest, APrefixHasNoOperation) {
  const XlaOpName name = ParseXlaOpNamePrefix("jit(f)/transpose(jvp(Model))/head");
  EXPECT_THAT(ScopesOf(name), ElementsAre("Model", "head"));
  EXPECT_EQ(name.operation, "");
  EXPECT_EQ(name.pass, XlaPass::kBackward);
}

TEST(OpNameTest, TheEndOfANameHasItsOperation) {
  EXPECT_EQ(XlaOperationOf("tanh"), "tanh");
  EXPECT_EQ(XlaOperationOf("mlp/down/scatter-add"), "scatter-add");
  EXPECT_EQ(XlaOperationOf("transpose(jvp(jit(log_softmax)))/mul"), "mul");
  EXPECT_EQ(XlaOperationOf("a/..b"), "");
  EXPECT_EQ(XlaOperationOf(""), "");
}

TEST(OpNameTest, AnyTextIsRead) {
  std::string nested, deep;
  for (int i = 0; i < 5000; ++i) nested += "jvp(";
  EXPECT_THAT(ScopesIn("a/" + nested + "/mul"), ElementsAre("a"));
  EXPECT_THAT(ScopesIn("a/" + nested + std::string(5000, ')') + "/b/mul"), ElementsAre("a", "b"));
  EXPECT_THAT(ScopesIn("a/jvp(jvp(b))/mul"), ElementsAre("a", "b"));
  EXPECT_THAT(ScopesIn("a/" + nested + "b" + std::string(5000, ')') + "/mul"), ElementsAre("a"))
      << "too deep";
  for (int i = 0; i < 5000; ++i) deep += "x/";
  EXPECT_EQ(ScopesIn(deep + "mul").size(), kMostXlaScopes);
  EXPECT_THAT(ScopesIn("))/a/((/b"), ElementsAre("a"));
  EXPECT_THAT(ScopesIn("///a/\n/\xff\xfe/b"), ElementsAre("a", "\xff\xfe"));
}

}  // namespace
}  // namespace utlz
