// The title that XLA gives an instruction, or a whole program:
//
//   Thunk:#name=jit(step)/jvp(Model)/head/dot_general,hlo_op=gemm_fusion.44,unique_hlo_op_id=5#
//   XlaModule:#hlo_module=jit_step,program_id=5974#
//   XlaModule:#hlo_module=gemm_fusion.44#            which XLA tries while it compiles
//
// Trust: texts come from targets; any bytes are safe. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_XLA_INSTRUCTION_TITLE_H_
#define UTLZ_COLLECTOR_XLA_INSTRUCTION_TITLE_H_

#include <optional>
#include <string_view>

namespace utlz {

// Parts of the text that was read.
struct XlaTitle {
  // What the op_names of all that the instruction does begin with. It may lack what those of the
  // whole program begin with. Nothing where they have nothing in common.
  std::optional<std::string_view> common_name;
  std::string_view instruction;  // "gemm_fusion.44"; of a program its name
  bool is_program = false;
  bool is_trial = false;  // a program that XLA tries while it compiles another one
};

// Empty where XLA did not write it.
XlaTitle ParseXlaTitle(std::string_view title);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_XLA_INSTRUCTION_TITLE_H_
