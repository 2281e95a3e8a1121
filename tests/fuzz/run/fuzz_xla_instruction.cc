// Texts that XLA registered, of any content, separated by zero bytes: title, locations and op_name.
// What is made of them is bounded, and ends in the instruction.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "collector/xla/instruction_frames.h"

namespace {

std::string_view TakeText(std::string_view* rest) {
  const std::string_view text = rest->substr(0, rest->find('\0'));
  rest->remove_prefix(text.size() < rest->size() ? text.size() + 1 : text.size());
  return text;
}

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace utlz;
  if (size == 0) return 0;
  const size_t most = 1 + data[0] % 192;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  XlaInstruction instruction;
  instruction.title = TakeText(&rest);
  instruction.locations = TakeText(&rest);
  instruction.op_name = TakeText(&rest);
  const std::vector<StackFrame> frames = FramesOfInstruction(instruction, most);
  Require(!frames.empty() && frames.size() <= most);
  Require(frames.back().kind == STACK_FRAME_XLA_INSTRUCTION);
  Require(frames.back().name.size() <= size || frames.back().name.size() <= kMaxXlaOperationsBytes);
  size_t bytes = 0;
  for (const StackFrame& frame : frames) {
    Require(frame.of_xla);
    bytes += frame.file.size();
  }
  Require(bytes <= frames.size() * size);
  return 0;
}
