#include "collector/kernel_code/kernel_code.h"

namespace utlz {

InstructionCounts& InstructionCounts::operator+=(const InstructionCounts& more) {
  all += more.all;
  fma += more.fma;
  fp32 += more.fp32;
  alu += more.alu;
  xu += more.xu;
  lsu += more.lsu;
  any_pipe += more.any_pipe;
  fp32_flops += more.fp32_flops;
  half_flops += more.half_flops;
  unknown += more.unknown;
  return *this;
}

}  // namespace utlz
