#include "inject/tracing/trace_switch.h"

#include <iterator>

#include "inject/base/clock.h"
#include "inject/record/api_record_filter.h"
#include "proto/profile_fields.h"
#include "proto/ring_abi.h"

namespace utlz::agent {
namespace {

struct KindOfFlag {
  uint32_t flag;
  uint32_t kind;
};
constexpr KindOfFlag kKinds[] = {
    {kTraceKernels, cupti::kKindConcurrentKernel},
    {kTraceCopies, cupti::kKindMemcpy},
    {kTraceCopies, cupti::kKindMemcpy2},
    {kTraceCopies, cupti::kKindMemset},
};

// Calls `disable` for every kind of `flags` among the first `count`, the last one first.
template <typename Disable>
void DisableKinds(uint32_t flags, Disable disable, size_t count = std::size(kKinds)) {
  while (count-- > 0) {
    if ((flags & kKinds[count].flag) != 0) disable(kKinds[count].kind);
  }
}

// Enables all of `flags` or none: what came before the first that is refused goes off again, and
// what is refused, which another client may have on, is not touched.
template <typename Enable, typename Disable>
cupti::Result EnableKinds(uint32_t flags, Enable enable, Disable disable) {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if ((flags & kKinds[i].flag) == 0) continue;
    const cupti::Result result = enable(kKinds[i].kind);
    if (result == cupti::kSuccess) continue;
    DisableKinds(flags, disable, i);
    return result;
  }
  return cupti::kSuccess;
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

cupti::Result TraceSwitch::ContextOn(cupti::Context context) {
  return EnableKinds(
      flags_, [&](uint32_t kind) { return cupti_->activity_enable_context(context, kind); },
      [&](uint32_t kind) { cupti_->activity_disable_context(context, kind); });
}

void TraceSwitch::ContextOff(cupti::Context context) {
  DisableKinds(flags_, [&](uint32_t kind) { cupti_->activity_disable_context(context, kind); });
}

cupti::Result TraceSwitch::ContextsOn(const PrimaryContexts& contexts) {
  for (uint32_t i = 0; i < contexts.count(); ++i) {
    const cupti::Result result = ContextOn(contexts[i]);
    if (result == cupti::kSuccess) continue;
    while (i-- > 0) ContextOff(contexts[i]);
    return result;
  }
  return cupti::kSuccess;
}

void TraceSwitch::ContextsOff(const PrimaryContexts& contexts) {
  for (uint32_t i = 0; i < contexts.count(); ++i) ContextOff(contexts[i]);
}

cupti::Result TraceSwitch::ProcessOn() {
  const cupti::Result result = EnableKinds(flags_, cupti_->activity_enable,
                                           [&](uint32_t kind) { cupti_->activity_disable(kind); });
  process_wide_ = result == cupti::kSuccess;
  return result;
}

void TraceSwitch::ProcessOff() {
  process_wide_ = false;
  DisableKinds(flags_, cupti_->activity_disable);
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
  cupti::Result result = by_context ? ContextsOn(contexts) : ProcessOn();
  if (result != cupti::kSuccess) return result;
  result = SwitchMarkers(true);
  if (result != cupti::kSuccess) {
    if (by_context) ContextsOff(contexts);
    if (!by_context) ProcessOff();
    return result;
  }
  if ((flags & kTraceLaunchCalls) != 0) SwitchCalls(*cupti_, kLaunchCalls, true);
  on_ = true;
  start_ns_ = Now();
  recorder_->Lock();
  recorder_->switch_times().SwitchedOn(start_ns_);
  recorder_->contexts().ForgetContexts();
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
  if ((flags_ & kTraceLaunchCalls) != 0) SwitchCalls(*cupti_, kLaunchCalls, false);
  SwitchMarkers(false);
  const PrimaryContexts contexts(*cuda_);
  if (contexts.count() > 0 && Pausable()) {
    ContextsOff(contexts);
  } else {
    ProcessOff();
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
  if (!on_ && process_wide_) ProcessOff();
}

void TraceSwitch::FollowNewContexts() {
  if (!on_ || process_wide_) return;
  const uint64_t devices = DevicesWithPrimaryContext(*cuda_);
  const uint64_t known_devices = traced_devices_;
  traced_devices_ = devices;
  if ((devices & ~known_devices) == 0) return;
  // Contexts that are traced already stay so, whatever CUPTI refuses.
  const PrimaryContexts contexts(*cuda_);
  for (uint32_t i = 0; i < contexts.count(); ++i) {
    for (const KindOfFlag& entry : kKinds) {
      if ((flags_ & entry.flag) != 0) cupti_->activity_enable_context(contexts[i], entry.kind);
    }
  }
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
  const bool all = recorder_->contexts().SawOnly(identifiers, count);
  recorder_->Unlock();
  return all;
}

void TraceSwitch::Lost(const char* reason, uint64_t handed_over_ns) {
  process_wide_ = false;  // the other client decides what new contexts begin with
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
  out.Fixed64(wire::TraceWindow::kStartNs, start_ns_);
  out.Fixed64(wire::TraceWindow::kEndNs, end_ns);
  out.Uint(wire::TraceWindow::kFlags, flags_);
  out.String(wire::TraceWindow::kGapReason, gap_reason_);
  recorder_->Send(wire::kFrameTraceWindow, *message);
  recorder_->Unlock();
}

}  // namespace utlz::agent
