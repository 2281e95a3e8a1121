// The op_name of an instruction of XLA, as JAX writes it: what was around an operation while JAX
// traced the program, outermost first, and the operation itself.
//
//   jit(step)/transpose(jvp(Model))/block_3/mlp/up/dot_general
//
// Model, block_3, mlp and up are modules of Flax, dot_general is the operation, and `transpose`
// says that it is of a backward pass.
//
// Trust: texts come from targets. Any bytes are safe; modules are bounded in number. Thread safety:
// functions only.
#ifndef UTLZ_COLLECTOR_XLA_OP_NAME_H_
#define UTLZ_COLLECTOR_XLA_OP_NAME_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace utlz {

enum class XlaPass { kForward, kBackward, kRecomputation };

// A name that was around the operation: of a module, or one that the program chose.
struct XlaScope {
  std::string name;
  // The module's `__call__` opened it, and not another one of its methods: "encoder.embed".
  bool is_call = true;
};

struct XlaOpName {
  std::vector<XlaScope> scopes;  // outermost first
  XlaPass pass = XlaPass::kForward;
  std::string operation;  // "dot_general", of letters, digits, '_', '-' and '.'; empty: not known
};

inline constexpr size_t kMostXlaScopes = 64;  // those inside of them are left out

// Of several names that are joined by ';' the first one is read. A name with nothing around it may
// be that of an argument, and has no operation.
XlaOpName ParseXlaOpName(std::string_view op_name);

// What is around both: without an operation, and of a pass where both are of that one.
XlaOpName CommonOf(const XlaOpName& a, const XlaOpName& b);

// The operation alone, of a name or of its end: "tanh" of "mlp/tanh" and of "tanh".
std::string XlaOperationOf(std::string_view op_name);

// What the names of several operations have in common: without an operation.
XlaOpName ParseXlaOpNamePrefix(std::string_view prefix);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_XLA_OP_NAME_H_
