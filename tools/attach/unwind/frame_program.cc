#include "tools/attach/unwind/frame_program.h"

#include <vector>

#include "tools/attach/unwind/byte_cursor.h"
#include "tools/attach/unwind/frame_expression.h"

namespace utlz::attach {
namespace {

constexpr size_t kMaxRememberedRows = 64;

// How a register of the caller is found.
struct Rule {
  enum class Kind {
    kSame,
    kUndefined,
    kAtOffset,
    kIsOffset,
    kRegister,
    kAtExpression,
    kIsExpression
  };
  Kind kind = Kind::kSame;
  int64_t number = 0;  // offset from the frame's address, or a register
  absl::Span<const uint8_t> expression;
};

struct Row {
  // The frame's address: a register and an offset, or an expression.
  uint64_t address_register = 0;
  int64_t address_offset = 0;
  absl::Span<const uint8_t> address_expression;
  std::array<Rule, kFrameRegisters> rules;
};

// DW_CFA_*: the first three keep an operand in their low six bits.
enum : uint8_t {
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  kNothing = 0x00,
  kSetLocation = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefineAddress = 0x0c,
  kDefineAddressRegister = 0x0d,
  kDefineAddressOffset = 0x0e,
  kDefineAddressExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSigned = 0x11,
  kDefineAddressSigned = 0x12,
  kDefineAddressOffsetSigned = 0x13,
  kValueOffset = 0x14,
  kValueOffsetSigned = 0x15,
  kValueExpression = 0x16,
  kToggleReturnSigning = 0x2d,  // aarch64: signed or not, the address is stripped
  kArgumentsSize = 0x2e,
};

class Program {
 public:
  Program(const FrameDescription& description, uint64_t code_address)
      : description_(description), code_address_(code_address) {}

  std::optional<Row> Run() {
    if (!Execute(description_.initial_instructions)) return std::nullopt;
    initial_ = row_;
    location_ = description_.code.start;
    if (!Execute(description_.instructions)) return std::nullopt;
    return row_;
  }

 private:
  bool Execute(absl::Span<const uint8_t> instructions) {
    ByteCursor cursor(instructions);
    while (!cursor.AtEnd() && location_ <= code_address_) {
      if (!Step(cursor) || !cursor.ok()) return false;
    }
    return true;
  }

  bool Step(ByteCursor& cursor) {
    const auto code = cursor.Read<uint8_t>();
    const uint64_t operand = code & 0x3fu;
    switch (code & 0xc0) {
      case kAdvance: return Advance(operand);
      case kOffset: return Set(operand, Rule::Kind::kAtOffset, Factored(cursor.ReadUnsigned()));
      case kRestore: return Restore(operand);
      default: return StepExtended(code, cursor);
    }
  }

  bool StepExtended(uint8_t code, ByteCursor& cursor) {
    switch (code) {
      case kNothing:
      case kToggleReturnSigning: return true;
      case kArgumentsSize: cursor.ReadUnsigned(); return true;
      case kSetLocation: return false;
      case kAdvance1: return Advance(cursor.Read<uint8_t>());
      case kAdvance2: return Advance(cursor.Read<uint16_t>());
      case kAdvance4: return Advance(cursor.Read<uint32_t>());
      case kRememberState: return Remember();
      case kRestoreState: return Recall();
      case kDefineAddress:
      case kDefineAddressSigned:
      case kDefineAddressRegister:
      case kDefineAddressOffset:
      case kDefineAddressOffsetSigned:
      case kDefineAddressExpression: return DefineAddress(code, cursor);
      default: return SetExtended(code, cursor);
    }
  }

  bool DefineAddress(uint8_t code, ByteCursor& cursor) {
    if (code == kDefineAddressExpression) {
      row_.address_expression = cursor.Take(cursor.ReadUnsigned());
      return true;
    }
    const bool has_register =
        code == kDefineAddress || code == kDefineAddressSigned || code == kDefineAddressRegister;
    if (has_register) row_.address_register = cursor.ReadUnsigned();
    if (code == kDefineAddress || code == kDefineAddressOffset) {
      row_.address_offset = static_cast<int64_t>(cursor.ReadUnsigned());
    } else if (code != kDefineAddressRegister) {
      row_.address_offset = cursor.ReadSigned() * description_.data_alignment;
    }
    row_.address_expression = {};
    return true;
  }

  bool SetExtended(uint8_t code, ByteCursor& cursor) {
    const uint64_t target = cursor.ReadUnsigned();
    switch (code) {
      case kOffsetExtended:
        return Set(target, Rule::Kind::kAtOffset, Factored(cursor.ReadUnsigned()));
      case kOffsetExtendedSigned:
        return Set(target, Rule::Kind::kAtOffset,
                   cursor.ReadSigned() * description_.data_alignment);
      case kValueOffset:
        return Set(target, Rule::Kind::kIsOffset, Factored(cursor.ReadUnsigned()));
      case kValueOffsetSigned:
        return Set(target, Rule::Kind::kIsOffset,
                   cursor.ReadSigned() * description_.data_alignment);
      case kRestoreExtended: return Restore(target);
      case kUndefined: return Set(target, Rule::Kind::kUndefined, 0);
      case kSameValue: return Set(target, Rule::Kind::kSame, 0);
      case kRegister:
        return Set(target, Rule::Kind::kRegister, static_cast<int64_t>(cursor.ReadUnsigned()));
      case kExpression:
        return SetExpression(target, Rule::Kind::kAtExpression, cursor);
      case kValueExpression:
        return SetExpression(target, Rule::Kind::kIsExpression, cursor);
      default: return false;
    }
  }

  int64_t Factored(uint64_t value) const {
    return static_cast<int64_t>(value * static_cast<uint64_t>(description_.data_alignment));
  }

  bool Advance(uint64_t steps) {
    location_ += steps * description_.code_alignment;
    return true;
  }

  // Registers beyond those that are followed (vector registers) may have rules; they are skipped.
  bool Set(uint64_t target, Rule::Kind kind, int64_t number) {
    if (target < kFrameRegisters) row_.rules[target] = Rule{kind, number, {}};
    return true;
  }

  bool SetExpression(uint64_t target, Rule::Kind kind, ByteCursor& cursor) {
    const auto expression = cursor.Take(cursor.ReadUnsigned());
    if (target < kFrameRegisters) row_.rules[target] = Rule{kind, 0, expression};
    return true;
  }

  bool Restore(uint64_t target) {
    if (target < kFrameRegisters) row_.rules[target] = initial_.rules[target];
    return true;
  }

  bool Remember() {
    remembered_.push_back(row_);
    return remembered_.size() <= kMaxRememberedRows;
  }

  bool Recall() {
    if (remembered_.empty()) return false;
    row_ = remembered_.back();
    remembered_.pop_back();
    return true;
  }

  const FrameDescription& description_;
  uint64_t code_address_;
  uint64_t location_ = 0;
  Row initial_;
  Row row_;
  std::vector<Row> remembered_;
};

std::optional<uint64_t> FrameAddress(const Row& row, const MemoryReader& memory,
                                     const FrameRegisters& registers) {
  if (!row.address_expression.empty()) {
    return EvaluateExpression(row.address_expression, memory, registers, std::nullopt);
  }
  if (row.address_register >= kFrameRegisters) return std::nullopt;
  return registers[row.address_register] + static_cast<uint64_t>(row.address_offset);
}

std::optional<uint64_t> Apply(const Rule& rule, size_t own_number, uint64_t frame_address,
                              const MemoryReader& memory, const FrameRegisters& registers) {
  const uint64_t offset_address = frame_address + static_cast<uint64_t>(rule.number);
  switch (rule.kind) {
    case Rule::Kind::kSame:
    case Rule::Kind::kUndefined: return registers[own_number];
    case Rule::Kind::kAtOffset: return memory.ReadValue<uint64_t>(offset_address);
    case Rule::Kind::kIsOffset: return offset_address;
    case Rule::Kind::kRegister: {
      const auto source = static_cast<uint64_t>(rule.number);
      return source < kFrameRegisters ? std::optional<uint64_t>(registers[source]) : std::nullopt;
    }
    case Rule::Kind::kAtExpression: {
      const auto address = EvaluateExpression(rule.expression, memory, registers, frame_address);
      return address ? memory.ReadValue<uint64_t>(*address) : std::nullopt;
    }
    case Rule::Kind::kIsExpression:
      return EvaluateExpression(rule.expression, memory, registers, frame_address);
  }
  return std::nullopt;
}

}  // namespace

std::optional<CallerFrame> UnwindFrame(const MemoryReader& memory,
                                       const FrameDescription& description, uint64_t code_address,
                                       const FrameRegisters& registers, size_t stack_register) {
  const auto row = Program(description, code_address).Run();
  const auto frame_address = row ? FrameAddress(*row, memory, registers) : std::nullopt;
  if (!frame_address || description.return_register >= kFrameRegisters) return std::nullopt;
  CallerFrame caller;
  for (size_t i = 0; i < kFrameRegisters; ++i) {
    const auto value = Apply(row->rules[i], i, *frame_address, memory, registers);
    if (!value) return std::nullopt;
    caller.registers[i] = *value;
  }
  if (row->rules[stack_register].kind == Rule::Kind::kSame) {
    caller.registers[stack_register] = *frame_address;
  }
  if (row->rules[description.return_register].kind != Rule::Kind::kUndefined) {
    caller.return_address = caller.registers[description.return_register];
  }
  return caller;
}

}  // namespace utlz::attach
