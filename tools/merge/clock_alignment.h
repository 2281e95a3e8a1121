// How far apart two hosts' clocks are, from the collectives that a process of each took part in.
//
// A collective such as an all-reduce ends on all ranks within microseconds. Which end belongs to
// which is not recorded, so the shift is first looked for at which most ends of the same kernel
// meet most tightly; from there the pairs are followed through the run, drift included.
#ifndef UTLZ_TOOLS_MERGE_CLOCK_ALIGNMENT_H_
#define UTLZ_TOOLS_MERGE_CLOCK_ALIGNMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/merge/collective.h"

namespace utlz {

struct ClockShift {
  double shift_ns = 0;   // b's clock less a's, at `middle_ns`
  double error_ns = 0;   // how far apart one collective's ends lie; the shift is better than that
  double drift = 0;      // by how much b's clock runs faster than a's, as a ratio; 0 where not seen
  double middle_ns = 0;  // on a's clock
  double span_ns = 0;    // from the first pair to the last
  size_t pairs = 0;
  // Steps can be so regular that another shift fits nearly as well: the nearest such one.
  std::optional<double> other_shift_ns;

  // b's clock less a's when a's shows `a_ns`.
  double At(double a_ns) const { return shift_ns + drift * (a_ns - middle_ns); }
};

struct ClockAlignmentOptions {
  double largest_shift_ns = 60e9;
};

// Both sorted by their ends. Nothing where too few collectives meet, or where those that meet
// cannot be the same ones (one would have ended before it began elsewhere). Pure; time grows with
// the number of collectives, memory is bounded.
std::optional<ClockShift> AlignClocks(const std::vector<Collective>& a,
                                      const std::vector<Collective>& b,
                                      const ClockAlignmentOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_MERGE_CLOCK_ALIGNMENT_H_
