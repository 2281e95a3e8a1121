#include "inject/record/api_record_filter.h"

#include <iterator>

namespace utlz::agent {
namespace {

template <size_t DriverCount, size_t RuntimeCount>
constexpr ApiRecordFilter Choose(const uint32_t (&driver)[DriverCount],
                                 const uint32_t (&runtime)[RuntimeCount]) {
  return {driver, DriverCount, runtime, RuntimeCount};
}

bool Among(const uint32_t* identifiers, uint32_t count, uint32_t wanted) {
  for (uint32_t i = 0; i < count; ++i) {
    if (identifiers[i] == wanted) return true;
  }
  return false;
}

}  // namespace

constinit const ApiRecordFilter kLaunchCalls =
    Choose(cupti::kDriverLaunchCalls, cupti::kRuntimeLaunchCalls);
constinit const ApiRecordFilter kNewWorkCalls =
    Choose(cupti::kDriverNewWorkCalls, cupti::kRuntimeNewWorkCalls);

void SwitchCalls(const CuptiApi& cupti, const ApiRecordFilter& calls, bool on) {
  if (cupti.activity_enable_driver_api == nullptr || cupti.activity_enable_runtime_api == nullptr) {
    return;
  }
  const uint8_t enable = on ? 1 : 0;
  for (uint32_t i = 0; i < calls.driver_count; ++i) {
    cupti.activity_enable_driver_api(calls.driver[i], enable);
  }
  for (uint32_t i = 0; i < calls.runtime_count; ++i) {
    cupti.activity_enable_runtime_api(calls.runtime[i], enable);
  }
}

bool Holds(const ApiRecordFilter& calls, const cupti::ApiRecord& record) {
  return record.kind == cupti::kKindDriver
             ? Among(calls.driver, calls.driver_count, record.callback_id)
             : Among(calls.runtime, calls.runtime_count, record.callback_id);
}

}  // namespace utlz::agent
