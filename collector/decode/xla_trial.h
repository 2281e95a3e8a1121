// How the frame of a program is named that XLA tries while it compiles another one.
#ifndef UTLZ_COLLECTOR_DECODE_XLA_TRIAL_H_
#define UTLZ_COLLECTOR_DECODE_XLA_TRIAL_H_

namespace utlz {

// In place of the operations of an instruction.
inline constexpr char kXlaTrial[] = "(autotuning)";

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_XLA_TRIAL_H_
