#include "inject/trace_switch.h"

#include <iterator>

#include "inject/clock.h"
#include "inject/launch_calls.h"
#include "proto/ring_abi.h"

namespace utlz::inject {
namespace {

constexpr uint16_t kFrameTraceWindow = 13;

struct KindOfFlag {
  uint32_t flag;
  uint32_t kind;
};
constexpr KindOfFlag kKinds[] = {
    {kTraceKernels, cupti::kKindConcurrentKernel},
    {kTraceGraphLaunches, cupti::kKindGraphTrace},
    {kTraceCopies, cupti::kKindMemcpy},
    {kTraceCopies, cupti::kKindMemcpy2},
    {kTraceCopies, cupti::kKindMemset},
};

// Calls `change` for every kind of `flags`, the last one first where they go off; returns the first
// error, and goes on after it.
template <typename Change>
cupti::Result ForKinds(uint32_t flags, bool on, Change change) {
  cupti::Result first_error = cupti::kSuccess;
  constexpr size_t kCount = std::size(kKinds);
  for (size_t i = 0; i < kCount; ++i) {
    const KindOfFlag& entry = kKinds[on ? i : kCount - 1 - i];
    if ((flags & entry.flag) == 0) continue;
    const cupti::Result result = change(entry.kind);
    if (result != cupti::kSuccess && first_error == cupti::kSuccess) first_error = result;
  }
  return first_error;
}

}  // namespace

uint64_t TraceSwitch::Now() const {
  uint64_t now = 0;
  cupti_->get_timestamp(&now);
  return recorder_->clock().foreign() ? RealtimeNs() : now;
}

bool TraceSwitch::SwitchesContexts() const {
  return cupti_->activity_enable_context != nullptr &&
         cupti_->activity_disable_context != nullptr && cupti_->get_context_id != nullptr;
}

cupti::Result TraceSwitch::SwitchContexts(const PrimaryContexts& contexts, bool on) {
  cupti::Result first_error = cupti::kSuccess;
  for (uint32_t i = 0; i < contexts.count(); ++i) {
    const cupti::Result result = ForKinds(flags_, on, [&](uint32_t kind) {
      return on ? cupti_->activity_enable_context(contexts[i], kind)
                : cupti_->activity_disable_context(contexts[i], kind);
    });
    if (first_error == cupti::kSuccess) first_error = result;
  }
  return first_error;
}

cupti::Result TraceSwitch::SwitchProcess(bool on) {
  process_wide_ = on;
  return ForKinds(flags_, on, [&](uint32_t kind) {
    return on ? cupti_->activity_enable(kind) : cupti_->activity_disable(kind);
  });
}

cupti::Result TraceSwitch::SwitchMarkers(bool on) {
  if ((flags_ & kTraceMarkers) == 0) return cupti::kSuccess;
  return on ? cupti_->activity_enable(cupti::kKindMarker)
            : cupti_->activity_disable(cupti::kKindMarker);
}

cupti::Result TraceSwitch::On(uint32_t flags) {
  flags_ = flags;
  const PrimaryContexts contexts(*cuda_);
  traced_devices_ = contexts.devices();
  const bool by_context = SwitchesContexts() && contexts.count() > 0;
  cupti::Result result = by_context ? SwitchContexts(contexts, true) : SwitchProcess(true);
  if (result == cupti::kSuccess) result = SwitchMarkers(true);
  if (result != cupti::kSuccess) return result;
  if ((flags & kTraceLaunchCalls) != 0) SwitchLaunchCalls(*cupti_, true);
  on_ = true;
  start_ns_ = Now();
  recorder_->Lock();
  recorder_->switch_times().SwitchedOn(start_ns_);
  recorder_->ForgetContexts();
  recorder_->Unlock();
  SendWindow(0);
  gap_reason_ = nullptr;
  return cupti::kSuccess;
}

void TraceSwitch::Off(const char* reason) {
  if (!on_) return;
  const uint64_t end_ns = Now();
  recorder_->Lock();
  recorder_->switch_times().SwitchedOff(end_ns);
  recorder_->Unlock();
  if ((flags_ & kTraceLaunchCalls) != 0) SwitchLaunchCalls(*cupti_, false);
  SwitchMarkers(false);
  const PrimaryContexts contexts(*cuda_);
  if (contexts.count() > 0 && Pausable()) {
    SwitchContexts(contexts, false);
  } else {
    SwitchProcess(false);
  }
  on_ = false;
  SendWindow(end_ns);
  gap_reason_ = reason;
}

void TraceSwitch::OffAgain() {
  if (on_ || (flags_ & kTraceKernels) == 0) return;
  const PrimaryContexts contexts(*cuda_);
  if (contexts.count() > 0 && Pausable()) {
    for (uint32_t i = 0; i < contexts.count(); ++i) {
      cupti_->activity_enable_context(contexts[i], cupti::kKindConcurrentKernel);
      cupti_->activity_disable_context(contexts[i], cupti::kKindConcurrentKernel);
    }
  } else {
    cupti_->activity_enable(cupti::kKindConcurrentKernel);
    cupti_->activity_disable(cupti::kKindConcurrentKernel);
  }
}

void TraceSwitch::OffForNewContexts() {
  if (!on_ && process_wide_) SwitchProcess(false);
}

void TraceSwitch::FollowNewContexts() {
  if (!on_ || process_wide_) return;
  const uint64_t devices = DevicesWithPrimaryContext(*cuda_);
  if ((devices & ~traced_devices_) != 0) SwitchContexts(PrimaryContexts(*cuda_), true);
  traced_devices_ = devices;
}

bool TraceSwitch::Pausable() const {
  if (!SwitchesContexts()) return false;
  const PrimaryContexts contexts(*cuda_);
  uint32_t identifiers[PrimaryContexts::kMost];
  uint32_t count = 0;
  for (uint32_t i = 0; i < contexts.count(); ++i) {
    if (cupti_->get_context_id(contexts[i], &identifiers[count]) == cupti::kSuccess) ++count;
  }
  recorder_->Lock();
  const bool all = recorder_->SawOnly(identifiers, count);
  recorder_->Unlock();
  return all;
}

void TraceSwitch::Lost(const char* reason, uint64_t handed_over_ns) {
  process_wide_ = false;  // what new contexts begin with is the other's to say
  if (!on_) return;
  on_ = false;
  SendWindow(handed_over_ns > start_ns_ ? handed_over_ns : start_ns_);
  gap_reason_ = reason;
}

void TraceSwitch::EndGap() {
  if (!InGap()) return;
  start_ns_ = RealtimeNs();
  SendWindow(start_ns_);
  gap_reason_ = nullptr;
}

void TraceSwitch::SendWindow(uint64_t end_ns) {
  recorder_->Lock();
  ByteBuffer* message = recorder_->Scratch();
  PbWriter out(message);
  out.Fixed64(1, start_ns_);
  out.Fixed64(2, end_ns);
  out.Uint(3, flags_);
  out.String(4, gap_reason_);
  recorder_->Send(kFrameTraceWindow, *message);
  recorder_->Unlock();
}

}  // namespace utlz::inject
