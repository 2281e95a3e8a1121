// Where the compiler says how to leave a function: .eh_frame, found through .eh_frame_hdr, as both
// lie in a process's memory (Linux Standard Base, "DWARF extensions").
#ifndef UTLZ_TOOLS_ATTACH_UNWIND_FRAME_DESCRIPTION_H_
#define UTLZ_TOOLS_ATTACH_UNWIND_FRAME_DESCRIPTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/remote_memory.h"

namespace utlz::attach {

struct FrameDescription {
  AddressRange code;
  bool is_signal_frame = false;
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint64_t return_register = 0;  // DWARF number
  // Call frame instructions (frame_program.h).
  std::vector<uint8_t> initial_instructions;
  std::vector<uint8_t> instructions;
};

// The description that covers `code_address`. Absent where there is none (code made at run time,
// or built without), or where it is of a kind that common compilers do not write.
std::optional<FrameDescription> FindFrameDescription(const MemoryReader& memory,
                                                     const MemoryMap& map, uint64_t code_address);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_UNWIND_FRAME_DESCRIPTION_H_
