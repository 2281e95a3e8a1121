// Facts for doctor that files of the system tell: no GPU and no driver library is needed.
#ifndef UTLZ_COLLECTOR_SAMPLER_DOCTOR_SYSTEM_FACTS_H_
#define UTLZ_COLLECTOR_SAMPLER_DOCTOR_SYSTEM_FACTS_H_

#include <string>

#include "collector/sampler/doctor/doctor_fact.h"

namespace utlz {

// In all of them `root` is put before every path ("" on a real machine).

// Whether this process may read counters, as far as the driver's parameters and our privileges say.
DoctorFact CounterPermissionFact(const std::string& root);

// Whether the environment of this process lets `utlz run` bring its agent in.
DoctorFact InjectionFact();

// Running programs that are known to hold counters or the injection hook. Samplers of utlz are
// none: they share.
DoctorFact OtherProfilersFact(const std::string& root);

// A running MPS server: several processes then share one context, and kernels of one cannot be
// separated from the other's.
DoctorFact MpsFact(const std::string& root);

// Whether a running process may be attached to.
DoctorFact PtraceFact(const std::string& root);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DOCTOR_SYSTEM_FACTS_H_
