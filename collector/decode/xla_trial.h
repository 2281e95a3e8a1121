// The name of the frame of a program that XLA only tries, while it compiles another one.
#ifndef UTLZ_COLLECTOR_DECODE_XLA_TRIAL_H_
#define UTLZ_COLLECTOR_DECODE_XLA_TRIAL_H_

namespace utlz {

// It stands where frames of instructions have their operations.
inline constexpr char kXlaTrial[] = "(autotuning)";

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_XLA_TRIAL_H_
