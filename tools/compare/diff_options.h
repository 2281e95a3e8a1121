// How sure a comparison is to be before it calls something a change.
#ifndef UTLZ_TOOLS_COMPARE_DIFF_OPTIONS_H_
#define UTLZ_TOOLS_COMPARE_DIFF_OPTIONS_H_

namespace utlz {

struct DiffOptions {
  // Chance that two runs of the same thing show any difference at all in one family of numbers
  // (quantities, slices, kernels); divided among the family's members.
  double false_alarm_probability = 0.01;
  // With one run on a side, what differs between runs (clocks, memory placement, temperature)
  // cannot be seen: this share of a number is added to its error. With several runs on both sides
  // the spread between runs is used instead.
  double run_to_run_share = 0.01;
  // Changes smaller than this share of the whole (a step, or the run) are not worth a line.
  double least_share = 0.0005;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_DIFF_OPTIONS_H_
