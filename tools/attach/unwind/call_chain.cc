#include "tools/attach/unwind/call_chain.h"

#include "tools/attach/unwind/frame_description.h"
#include "tools/attach/unwind/frame_program.h"

namespace utlz::attach {
namespace {

constexpr size_t kMaxCalls = 1000;

}  // namespace

CallChain FollowCallChain(const MemoryReader& memory, const MemoryMap& map,
                          const Registers& registers,
                          std::chrono::steady_clock::time_point give_up) {
  CallChain chain;
  FrameRegisters frame = UnwindRegisters(registers);
  uint64_t address = ProgramCounter(registers);
  while (chain.addresses.size() < kMaxCalls && std::chrono::steady_clock::now() < give_up) {
    chain.addresses.push_back(address);
    // The instruction behind a call may belong to the next function already.
    const auto description = FindFrameDescription(memory, map, address - 1);
    if (!description) break;
    if (description->is_signal_frame) {
      chain.has_signal_frame = true;
      break;
    }
    const auto caller = UnwindFrame(memory, *description, address - 1, frame, kUnwindStackRegister);
    if (!caller) break;
    const uint64_t return_address = CodeAddress(caller->return_address.value_or(0));
    if (return_address == 0) {
      chain.is_complete = true;
      break;
    }
    // A frame lies above the one that it called.
    if (caller->registers[kUnwindStackRegister] <= frame[kUnwindStackRegister] &&
        chain.addresses.size() > 1) {
      break;
    }
    frame = caller->registers;
    address = return_address;
  }
  return chain;
}

}  // namespace utlz::attach
