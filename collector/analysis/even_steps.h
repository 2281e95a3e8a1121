// What ran between the trace windows of a program whose steps launch the same every time.
//
// Windows meet some parts of a step more often than others, and what ran between them is estimated
// from what they met (window_work.h): a kernel that a step launches once is then off by several per
// cent. Where steps that were recorded whole are alike, all that ran is known better:
//
//   launches of a kernel = outside + steps × (launches of it in a step)
//   steps = (launches of all such kernels − all outside) ÷ (launches of a step)
//
// `outside` is what was recorded before the first step and in unlike steps. Launches are as many as
// the windows say, since the agent counts what runs between them. Kernels that no step launches are
// as windows show them, unless they ran outside alone: then they did not run between windows. The
// windows must agree: many launches of such kernels, or shares further from those of a step than a
// few windows differ by chance, show other work between them, and then nothing is said here.
#ifndef UTLZ_COLLECTOR_ANALYSIS_EVEN_STEPS_H_
#define UTLZ_COLLECTOR_ANALYSIS_EVEN_STEPS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "collector/run/duration_histogram.h"
#include "collector/run/run_state.h"

namespace utlz {

// One kernel of a device.
struct EvenKernel {
  double launches_in_gaps = 0;
  std::map<uint32_t, double> in_gaps_by_stack;  // the same, by what launched them
  double launches_in_steps = 0;                 // of the whole run
  DurationHistogram in_steps;                   // of steps that were recorded whole
  DurationHistogram outside;

  // Steps of the run for each that `in_steps` is of.
  double RecordedSteps() const {
    return in_steps.count() == 0 ? 0 : launches_in_steps / static_cast<double>(in_steps.count());
  }
};

// By kernel, as KernelTable has them. A kernel that is not in it is as windows show it.
using EvenSteps = std::map<uint32_t, EvenKernel>;

// Empty where the device's steps are not even, or too few were recorded whole, or several processes
// launch kernels there. `in_gaps`: launches by kernel, as the windows say.
EvenSteps FindEvenSteps(const RunState& state, uint32_t device,
                        const std::map<uint32_t, double>& in_gaps);

// Divides `total` among parts, each in proportion to what it lacks of what is expected of it.
std::vector<double> FillUp(const std::vector<double>& expected, const std::vector<double>& recorded,
                           double total);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_EVEN_STEPS_H_
