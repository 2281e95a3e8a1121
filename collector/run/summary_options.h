// What a reader of a run decides about its summary.
#ifndef UTLZ_COLLECTOR_RUN_SUMMARY_OPTIONS_H_
#define UTLZ_COLLECTOR_RUN_SUMMARY_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

struct SummaryOptions {
  WorkloadSpec work;                        // replaces what the run itself recorded
  std::vector<DeviceCeilings> ceilings;  // of GPUs whose ceilings the run does not hold itself
  std::string step_kernel;               // part of the name of kernels that begin steps; or empty
  double steps = 0;  // or items that the program says it ran: a hint which level they are; or 0
  uint32_t maximum_kernels = 5000;   // rows of Summary.kernels; the least important are left out
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_SUMMARY_OPTIONS_H_
