#include "inject/tracing/stack_windows.h"

#include <cstdio>

#include "inject/base/clock.h"
#include "inject/driver/one_agent.h"

namespace utlz::agent {

void StackWindows::Open(bool calibration_due) {
  if (!callbacks_.on()) reason_ = Subscribe(calibration_due);
}

NoStack StackWindows::Subscribe(bool calibration_due) {
  if (calibration_due) return NoStack::kNone;
  PythonLayout layout;
  if (!recorder_.stacks().ready()) {
    // Without the recorder's lock: the thread with the dynamic loader's lock may wait for that one.
    if (const NoStack why = FindPython(&layout); why != NoStack::kNone) return why;
  }
  {
    const RecorderLock lock(&recorder_);
    if (!recorder_.CreateStacks(layout)) return NoStack::kNoMemory;
    recorder_.stacks().BeginWindow();
  }
  if (!client_.may_subscribe()) return NoStack::kNotSubscribed;
  // Without that lock, for the same reason.
  no_backward_ = recorder_.stacks().FindAutograd();
  return callbacks_.On(cupti_, LaunchCallback) == cupti::kSuccess ? NoStack::kNone
                                                                  : NoStack::kNotSubscribed;
}

void StackWindows::Turn(uint64_t now_ns, bool calibration_due) {
  if (calibration_due) return GiveUp();
  if (client_.TornDown()) return callbacks_.Lost();
  callbacks_.Turn(cupti_, now_ns);
  const RecorderLock lock(&recorder_);
  recorder_.stacks().TakeNewStacks();
}

void StackWindows::ReadCompiledCode() {
  constexpr int kMostFilesAtOnce = 8;
  if (!recorder_.stacks().ready()) return;
  CompiledFiles& files = recorder_.stacks().compiled_files();
  for (int i = 0; i < kMostFilesAtOnce; ++i) {
    char path[PythonCode::kMostFileBytes] = "";
    uint32_t file = 0;
    {
      const RecorderLock lock(&recorder_);
      file = files.Next();
      snprintf(path, sizeof(path), "%s", recorder_.TextOf(file));
    }
    if (file == 0) return;
    if (files.Read(path)) {
      const RecorderLock lock(&recorder_);
      recorder_.SendCompiledCode(file);
    }
    files.Release();
  }
}

void StackWindows::Close() {
  if (client_.TornDown()) return callbacks_.Lost();
  callbacks_.Silence(cupti_, MonotonicNs());
}

void StackWindows::GiveUp() {
  if (client_.TornDown()) return callbacks_.Lost();
  callbacks_.Off(cupti_);
}

}  // namespace utlz::agent
