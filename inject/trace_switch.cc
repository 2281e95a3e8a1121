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
    {kTraceMarkers, cupti::kKindMarker},
};

}  // namespace

uint64_t TraceSwitch::Now() const {
  uint64_t now_ns = 0;
  cupti_->get_timestamp(&now_ns);
  return now_ns;
}

cupti::Result TraceSwitch::On(uint32_t flags) {
  cupti::Result first_error = cupti::kSuccess;
  for (const KindOfFlag& entry : kKinds) {
    if ((flags & entry.flag) == 0) continue;
    const cupti::Result result = cupti_->activity_enable(entry.kind);
    if (result != cupti::kSuccess && first_error == cupti::kSuccess) first_error = result;
  }
  if (first_error != cupti::kSuccess) return first_error;
  if ((flags & kTraceLaunchCalls) != 0) SwitchLaunchCalls(*cupti_, true);
  flags_ = flags;
  on_ = true;
  start_ns_ = Now();
  recorder_->Lock();
  recorder_->switch_times().SwitchedOn(start_ns_);
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
  for (const KindOfFlag* entry = std::end(kKinds); entry != std::begin(kKinds);) {
    --entry;
    if ((flags_ & entry->flag) != 0) cupti_->activity_disable(entry->kind);
  }
  on_ = false;
  SendWindow(end_ns);
  gap_reason_ = reason;
}

void TraceSwitch::OffAgain() {
  if (on_ || (flags_ & kTraceKernels) == 0) return;
  cupti_->activity_enable(cupti::kKindConcurrentKernel);
  cupti_->activity_disable(cupti::kKindConcurrentKernel);
}

void TraceSwitch::Lost(const char* reason, uint64_t handed_over_ns) {
  if (!on_) return;
  on_ = false;
  SendWindow(handed_over_ns > start_ns_ ? handed_over_ns : start_ns_);
  gap_reason_ = reason;
}

void TraceSwitch::EndGap() {
  if (on_ || gap_reason_ == nullptr) return;
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
