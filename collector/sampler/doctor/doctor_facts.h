// The facts behind `utlz doctor`: what this machine lets utlz do, and what to change where it does
// not. Looks only; takes no counters for longer than it needs to see whether it could.
#ifndef UTLZ_COLLECTOR_SAMPLER_DOCTOR_DOCTOR_FACTS_H_
#define UTLZ_COLLECTOR_SAMPLER_DOCTOR_DOCTOR_FACTS_H_

#include <string>
#include <vector>

#include "collector/sampler/doctor/doctor_fact.h"

namespace utlz {

struct DoctorOptions {
  std::string cupti_path = {};      // named by the user; empty = the trusted list
  std::string root_directory = {};  // prefix of /proc and /sys, for tests
};

// Gathers every fact, in the order in which they should be shown. May take a second. Loads the
// CUDA driver and CUPTI into this process, and cleans its environment for them: call it in a
// process that does nothing else.
std::vector<DoctorFact> GatherDoctorFacts(const DoctorOptions& options);

// True where the full job can run: no fact is bad.
bool FullJobCanRun(const std::vector<DoctorFact>& facts);

// "ok", "warning", "bad", "unknown".
const char* FactStatusName(FactStatus status);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DOCTOR_DOCTOR_FACTS_H_
