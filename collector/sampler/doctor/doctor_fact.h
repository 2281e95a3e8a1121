// One thing that `utlz doctor` found out about this machine.
#ifndef UTLZ_COLLECTOR_SAMPLER_DOCTOR_DOCTOR_FACT_H_
#define UTLZ_COLLECTOR_SAMPLER_DOCTOR_DOCTOR_FACT_H_

#include <string>

namespace utlz {

enum class FactStatus {
  kGood,
  kWarning,  // something is lost, the main job runs
  kBad,      // the full job cannot run
  kUnknown,
};

struct DoctorFact {
  std::string name = {};  // "driver", "GPU 0", "CUPTI", "counter permission", …; short, stable
  FactStatus status = FactStatus::kUnknown;
  std::string detail = {};  // what was found
  std::string remedy = {};  // what to do; empty where nothing is to be done
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DOCTOR_DOCTOR_FACT_H_
