#include "tools/attach/unwind/frame_program.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/attach/fake_memory.h"
#include "tools/attach/unwind/frame_expression.h"

namespace utlz::attach {
namespace {

constexpr uint64_t kCode = 0x1000;
constexpr uint64_t kStackTop = 0x8000;
constexpr size_t kStackRegister = 7;
constexpr size_t kReturnRegister = 16;

class FrameProgramTest : public testing::Test {
 protected:
  FrameProgramTest() {
    description_.code = {kCode, kCode + 100};
    description_.data_alignment = -8;
    description_.return_register = kReturnRegister;
    // At a function's first instruction: the frame's address is rsp + 8, the return address below.
    description_.initial_instructions = {0x0c, 7, 8, 0x80 | 16, 1};
    registers_[kStackRegister] = kStackTop;
    registers_[6] = 66;
    std::vector<uint8_t> stack;
    for (uint64_t i = 0; i < 16; ++i) {
      const uint64_t word = 0x5000 + i;
      const auto* bytes = reinterpret_cast<const uint8_t*>(&word);
      stack.insert(stack.end(), bytes, bytes + sizeof(word));
    }
    memory_.Put(kStackTop, stack);
  }

  std::optional<CallerFrame> Unwind(uint64_t offset) const {
    return UnwindFrame(memory_, description_, kCode + offset, registers_, kStackRegister);
  }

  FakeMemory memory_;
  FrameDescription description_;
  FrameRegisters registers_ = {};
};

TEST_F(FrameProgramTest, LeavesAtTheFirstInstruction) {
  const auto caller = Unwind(0);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->return_address, 0x5000u);
  EXPECT_EQ(caller->registers[kStackRegister], kStackTop + 8);
  EXPECT_EQ(caller->registers[6], 66u);
}

TEST_F(FrameProgramTest, FollowsThePlace) {
  // After one byte rbp is pushed; after 20 more, within a remembered state, it is popped again.
  description_.instructions = {0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x54, 0x0e, 8, 0xc6, 0x44, 0x0b};
  EXPECT_EQ(Unwind(0)->return_address, 0x5000u);
  EXPECT_EQ(Unwind(1)->return_address, 0x5001u);
  EXPECT_EQ(Unwind(1)->registers[6], 0x5000u);
  EXPECT_EQ(Unwind(22)->return_address, 0x5000u);
  EXPECT_EQ(Unwind(22)->registers[6], 66u);
  EXPECT_EQ(Unwind(30)->return_address, 0x5001u);
}

TEST_F(FrameProgramTest, KnowsTheOutermostFunction) {
  description_.instructions = {0x07, 16};
  const auto caller = Unwind(0);
  ASSERT_TRUE(caller);
  EXPECT_FALSE(caller->return_address);
}

TEST_F(FrameProgramTest, EvaluatesExpressions) {
  // The frame's address is what lies at rsp + 8, plus 3.
  description_.initial_instructions = {0x0f, 5, 0x77, 8, 0x06, 0x23, 3, 0x16, 16, 1, 0x35};
  const auto caller = Unwind(0);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->registers[kStackRegister], 0x5004u);
  EXPECT_EQ(caller->return_address, 5u);
}

TEST_F(FrameProgramTest, RefusesMalformedInstructions) {
  for (const std::vector<uint8_t>& bad :
       std::vector<std::vector<uint8_t>>{{0x0c, 7},         // an operand is missing
                                         {0x0b},            // nothing was remembered
                                         {0x3f, 0, 0},      // no such instruction
                                         {0x0f, 200, 1},    // an expression beyond the end
                                         {0x0f, 1, 0x22},   // an addition of nothing
                                         {0x0c, 99, 8}}) {  // no such register
    description_.instructions = bad;
    EXPECT_FALSE(Unwind(50)) << int{bad[0]};
  }
}

TEST_F(FrameProgramTest, RefusesUnreadableStack) {
  registers_[kStackRegister] = 0x10;
  EXPECT_FALSE(Unwind(0));
}

TEST_F(FrameProgramTest, BoundsRememberedStates) {
  description_.instructions.assign(10000, 0x0a);
  EXPECT_FALSE(Unwind(0));
}

TEST(FrameExpressionTest, Computes) {
  const FakeMemory memory;
  FrameRegisters registers = {};
  registers[16] = 0x1234;
  // Of the procedure linkage table: ((rip & 15) >= 11) << 3, here with rip = ...4 and 4 >= 4.
  const std::vector<uint8_t> expression = {0x80, 0, 0x3f, 0x1a, 0x34, 0x2a, 0x33, 0x24};
  EXPECT_EQ(EvaluateExpression(expression, memory, registers, std::nullopt), 8u);
  EXPECT_EQ(EvaluateExpression(std::vector<uint8_t>{0x11, 0x7f, 0x1c}, memory, registers, 10u),
            11u);
  EXPECT_EQ(EvaluateExpression({}, memory, registers, std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace utlz::attach
