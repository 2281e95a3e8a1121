#include "inject/process_end.h"

#include <cstdint>

#include "inject/base/clock.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kPatienceNs = 2'000'000'000;
constexpr uint64_t kPatienceInSetUpNs = 5'000'000'000;  // ranges start in up to three seconds

}  // namespace

// Our thread may be where it loads CUPTI or sets ranges up, in libraries that are about to be torn
// down.
void ProcessEnd::OnMainThreadEnds() {
  recording_.RefuseRanges();  // what has not begun will not
  if (turns_.ended() || !(begins_tracing_ || recording_.RangesUnderWay())) return;
  turns_.Between(kPatienceInSetUpNs, [this] {
    if (recording_.active()) recording_.EndRangesAtExit();
  });
}

void ProcessEnd::OnExitBegins() {
  const uint64_t begun_ns = MonotonicNs();
  EndTracing();
  delay_ns_ += MonotonicNs() - begun_ns;
}

void ProcessEnd::EndTracing() {
  if (turns_.ended() || (!recording_.serves_attachments() && !recording_.active())) return;
  if (!EndTurns() || !recording_.active()) return;
  recording_.EndRangesAtExit();
  recording_.GiveUpStacks();
}

void ProcessEnd::OnExit() {
  if (over_.exchange(true)) return;
  OnExitBegins();
  if (recording_.active()) recording_.HandOverAtExit(delay_ns_);
}

// CUDA is taken down after this, and a call into it from our thread would end in a crash. False
// where it is still inside one.
bool ProcessEnd::EndTurns() {
  return turns_.End(recording_.RangesUnderWay() ? kPatienceInSetUpNs : kPatienceNs);
}

}  // namespace utlz::agent
