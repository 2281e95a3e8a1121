#include "inject/record/first_launch_watch.h"

#include "inject/driver/primary_contexts.h"
#include "inject/record/api_record_filter.h"

namespace utlz::agent {

void FirstLaunchWatch::On() {
  if (!on_) {
    on_ = true;
    devices_ = 0;
    SwitchCalls(*cupti_, kNewWorkCalls, true);
    // Before there is a context there is no launch that this could meet.
    process_wide_ = DevicesWithPrimaryContext(*cuda_) == 0 &&
                    cupti_->activity_enable(cupti::kKindOverhead) == cupti::kSuccess;
  }
  if (!process_wide_) ContextsOn();
}

void FirstLaunchWatch::ContextsOn() {
  const uint64_t devices = DevicesWithPrimaryContext(*cuda_);
  const uint64_t known_devices = devices_;
  devices_ = devices;
  if ((devices & ~known_devices) == 0 || cupti_->activity_enable_context == nullptr) return;
  const PrimaryContexts contexts(*cuda_);
  for (uint32_t i = 0; i < contexts.count(); ++i) {
    cupti_->activity_enable_context(contexts[i], cupti::kKindOverhead);
  }
}

void FirstLaunchWatch::Off() {
  if (!on_) return;
  on_ = false;
  SwitchCalls(*cupti_, kNewWorkCalls, false);
  if (cupti_->activity_disable_context != nullptr) {
    const PrimaryContexts contexts(*cuda_);
    for (uint32_t i = 0; i < contexts.count(); ++i) {
      cupti_->activity_disable_context(contexts[i], cupti::kKindOverhead);
    }
  }
  if (process_wide_) cupti_->activity_disable(cupti::kKindOverhead);
  process_wide_ = false;
}

}  // namespace utlz::agent
