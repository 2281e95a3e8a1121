#include "tools/attach/unwind/frame_expression.h"

#include <vector>

#include "tools/attach/unwind/byte_cursor.h"

namespace utlz::attach {
namespace {

constexpr size_t kMaxDepth = 64;

// DW_OP_*
constexpr uint8_t kDereference = 0x06;
constexpr uint8_t kConstant1Unsigned = 0x08;
constexpr uint8_t kConstant1Signed = 0x09;
constexpr uint8_t kConstant2Unsigned = 0x0a;
constexpr uint8_t kConstant2Signed = 0x0b;
constexpr uint8_t kConstant4Unsigned = 0x0c;
constexpr uint8_t kConstant4Signed = 0x0d;
constexpr uint8_t kConstantUnsigned = 0x10;
constexpr uint8_t kConstantSigned = 0x11;
constexpr uint8_t kAnd = 0x1a;
constexpr uint8_t kMinus = 0x1c;
constexpr uint8_t kPlus = 0x22;
constexpr uint8_t kPlusConstant = 0x23;
constexpr uint8_t kShiftLeft = 0x24;
constexpr uint8_t kGreaterOrEqual = 0x2a;
constexpr uint8_t kLiteral0 = 0x30;
constexpr uint8_t kLiteral31 = 0x4f;
constexpr uint8_t kBaseRegister0 = 0x70;
constexpr uint8_t kBaseRegister31 = 0x8f;

uint64_t Extend(int64_t value) { return static_cast<uint64_t>(value); }

class StackMachine {
 public:
  StackMachine(const MemoryReader& memory, const FrameRegisters& registers)
      : memory_(memory), registers_(registers) {}

  std::optional<uint64_t> Run(absl::Span<const uint8_t> expression,
                              std::optional<uint64_t> initial) {
    if (initial) stack_.push_back(*initial);
    ByteCursor cursor(expression);
    while (!cursor.AtEnd()) {
      if (!Step(cursor) || !cursor.ok() || stack_.size() > kMaxDepth) return std::nullopt;
    }
    return stack_.empty() ? std::nullopt : std::optional<uint64_t>(stack_.back());
  }

 private:
  bool Step(ByteCursor& cursor) {
    const auto operation = cursor.Read<uint8_t>();
    if (operation >= kLiteral0 && operation <= kLiteral31) {
      return Push(uint64_t{operation} - kLiteral0);
    }
    if (operation >= kBaseRegister0 && operation <= kBaseRegister31) {
      return Push(registers_[operation - kBaseRegister0] + Extend(cursor.ReadSigned()));
    }
    switch (operation) {
      case kConstant1Unsigned: return Push(cursor.Read<uint8_t>());
      case kConstant1Signed: return Push(Extend(cursor.Read<int8_t>()));
      case kConstant2Unsigned: return Push(cursor.Read<uint16_t>());
      case kConstant2Signed: return Push(Extend(cursor.Read<int16_t>()));
      case kConstant4Unsigned: return Push(cursor.Read<uint32_t>());
      case kConstant4Signed: return Push(Extend(cursor.Read<int32_t>()));
      case kConstantUnsigned: return Push(cursor.ReadUnsigned());
      case kConstantSigned: return Push(Extend(cursor.ReadSigned()));
      case kPlusConstant: return !stack_.empty() && Push(Pop() + cursor.ReadUnsigned());
      case kDereference: return Dereference();
      default: return Combine(operation);
    }
  }

  bool Dereference() {
    if (stack_.empty()) return false;
    const auto value = memory_.ReadValue<uint64_t>(Pop());
    return value && Push(*value);
  }

  bool Combine(uint8_t operation) {
    if (stack_.size() < 2) return false;
    const uint64_t right = Pop();
    const uint64_t left = Pop();
    switch (operation) {
      case kAnd: return Push(left & right);
      case kMinus: return Push(left - right);
      case kPlus: return Push(left + right);
      case kShiftLeft: return Push(right < 64 ? left << right : 0);
      case kGreaterOrEqual:
        return Push(static_cast<int64_t>(left) >= static_cast<int64_t>(right) ? 1 : 0);
      default: return false;
    }
  }

  bool Push(uint64_t value) {
    stack_.push_back(value);
    return true;
  }
  uint64_t Pop() {
    const uint64_t value = stack_.back();
    stack_.pop_back();
    return value;
  }

  const MemoryReader& memory_;
  const FrameRegisters& registers_;
  std::vector<uint64_t> stack_;
};

}  // namespace

std::optional<uint64_t> EvaluateExpression(absl::Span<const uint8_t> expression,
                                           const MemoryReader& memory,
                                           const FrameRegisters& registers,
                                           std::optional<uint64_t> initial) {
  return StackMachine(memory, registers).Run(expression, initial);
}

}  // namespace utlz::attach
