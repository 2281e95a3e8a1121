// The modules that an instruction of XLA belongs to, of Flax and libraries like it.
//
// Linen writes the names of the modules around an operation into its op_name. Their classes are
// those whose `__call__` is among the functions that called the operation. NNX and Equinox write no
// names. For them a module is called by its class, and two instances of one class are one module.
//
// Trust: names come from targets; any bytes are safe. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_XLA_MODULE_FRAMES_H_
#define UTLZ_COLLECTOR_XLA_MODULE_FRAMES_H_

#include <cstddef>
#include <vector>

#include "collector/decode/stack_frame.h"
#include "collector/xla/op_name.h"

namespace utlz {

struct XlaModuleFrame {
  size_t before = 0;  // its place: before this function; behind all where it is their number
  StackFrame frame;
};

// The outermost module first. `functions`: frames, the outermost first. Where they are not those
// that called the operation itself, nothing is taken from them.
std::vector<XlaModuleFrame> ModulesOf(const std::vector<XlaScope>& scopes,
                                      const std::vector<StackFrame>& functions,
                                      bool functions_are_own);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_XLA_MODULE_FRAMES_H_
