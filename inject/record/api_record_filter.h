// Calls of the driver and the runtime whose records are switched on one by one, and no others:
// CUPTI records a call where somebody has chosen its function.
#ifndef UTLZ_INJECT_RECORD_API_RECORD_FILTER_H_
#define UTLZ_INJECT_RECORD_API_RECORD_FILTER_H_

#include "inject/driver/cupti_api.h"

namespace utlz::agent {

struct ApiRecordFilter {
  const uint32_t* driver;
  uint32_t driver_count;
  const uint32_t* runtime;
  uint32_t runtime_count;
};

// Launches of kernels and graphs: while NVTX ranges are recorded, so that the collector can tell in
// which range of which thread a kernel was launched.
extern const ApiRecordFilter kLaunchCalls;

// What makes work that was not there before: loads of modules, instantiations of graphs. Seldom, so
// they can be recorded while nothing else is.
extern const ApiRecordFilter kNewWorkCalls;

// Switches their records on or off. Where this libcupti cannot choose functions, nothing happens;
// and where CUDA had a context when they were first chosen, none ever come (CUPTI 13.0 and 12.8).
void SwitchCalls(const CuptiApi& cupti, const ApiRecordFilter& calls, bool on);

// Another client may have switched on records of every call.
bool Holds(const ApiRecordFilter& calls, const cupti::ApiRecord& record);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_API_RECORD_FILTER_H_
