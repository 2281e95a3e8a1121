#include "inject/launch_calls.h"

namespace utlz::inject {
namespace {

template <uint32_t Count>
bool Holds(const uint32_t (&identifiers)[Count], uint32_t wanted) {
  for (const uint32_t identifier : identifiers) {
    if (identifier == wanted) return true;
  }
  return false;
}

}  // namespace

void SwitchLaunchCalls(const CuptiApi& cupti, bool on) {
  if (cupti.activity_enable_driver_api == nullptr || cupti.activity_enable_runtime_api == nullptr) {
    return;
  }
  const uint8_t enable = on ? 1 : 0;
  for (const uint32_t call : cupti::kDriverLaunchCalls) {
    cupti.activity_enable_driver_api(call, enable);
  }
  for (const uint32_t call : cupti::kRuntimeLaunchCalls) {
    cupti.activity_enable_runtime_api(call, enable);
  }
}

bool IsLaunchCall(const cupti::ApiRecord& record) {
  return record.kind == cupti::kKindDriver ? Holds(cupti::kDriverLaunchCalls, record.callback_id)
                                           : Holds(cupti::kRuntimeLaunchCalls, record.callback_id);
}

}  // namespace utlz::inject
