#include "inject/tracing/stack_windows.h"

#include <cstdio>

#include "inject/base/clock.h"
#include "inject/driver/one_agent.h"
#include "inject/xla/xla_ranges.h"

namespace utlz::agent {

void StackWindows::Open(bool calibration_due) {
  is_postponed_ = calibration_due;
  if (!callbacks_.on()) reason_ = Subscribe(calibration_due);
}

NoStack StackWindows::FindInterpreter() {
  if (recorder_.stacks().ready()) return NoStack::kNone;
  PythonLayout layout;
  // Without the recorder's lock: the thread with the dynamic loader's lock may wait for that one.
  if (const NoStack why = FindPython(&layout); why != NoStack::kNone) return why;
  const RecorderLock lock(&recorder_);
  return recorder_.CreateStacks(layout) ? NoStack::kNone : NoStack::kNoMemory;
}

NoStack StackWindows::Subscribe(bool calibration_due) {
  if (calibration_due) return NoStack::kNone;
  if (const NoStack why = FindInterpreter(); why != NoStack::kNone) return why;
  {
    const RecorderLock lock(&recorder_);
    recorder_.stacks().BeginWindow();
  }
  if (!client_.may_subscribe()) return NoStack::kNotSubscribed;
  // Without that lock, for the same reason.
  no_backward_ = recorder_.stacks().FindAutograd();
  const cupti::Result result = callbacks_.On(cupti_, LaunchCallback);
  is_postponed_ = result == cupti::kErrorHardwareBusy;
  return result == cupti::kSuccess || is_postponed_ ? NoStack::kNone : NoStack::kNotSubscribed;
}

void StackWindows::Turn(uint64_t now_ns, bool calibration_due, bool sample_threads) {
  if (calibration_due) {
    is_postponed_ = true;
    return GiveUp();
  }
  if (client_.TornDown()) return callbacks_.Lost();
  LeaveOldCaptures(now_ns);
  callbacks_.Turn(cupti_, now_ns);
  const RecorderLock lock(&recorder_);
  recorder_.TakeStacks(sample_threads);
}

void StackWindows::WatchCaptures(CaptureWatch::Tell tell) {
  if (!capture_watch_.TakeNewModules() || FindInterpreter() != NoStack::kNone) return;
  recorder_.stacks().FindAutograd();
  capture_watch_.WatchImporters(tell);
  TellOfXlaPrograms(tell);
}

bool StackWindows::IsCapturing() { return CaptureWatch::Open() != 0 || OpenXlaPrograms() != 0; }

void StackWindows::OnCapture(CaptureEvent event, uint64_t now_ns, bool calibration_due) {
  if (client_.TornDown()) return callbacks_.Lost();
  switch (event) {
    case CaptureEvent::kBegins:
      captures_.fetch_add(1, std::memory_order_relaxed);
      [[fallthrough]];
    case CaptureEvent::kBuilds:
      captured_at_ns_ = now_ns;
      if (const NoCapture why = WatchCapture(calibration_due); why != NoCapture::kNone) {
        no_capture_.store(why, std::memory_order_relaxed);
      }
      return;
    case CaptureEvent::kInstantiates:
      captured_at_ns_ = now_ns;
      // Made long after its capture began: its clones are announced all the same.
      if (recorder_.stacks().has_captured_nodes()) WatchNodes(calibration_due);
      return;
    case CaptureEvent::kInstantiated:
    case CaptureEvent::kBuilt:
      if (!IsCapturing()) callbacks_.SilenceNodes(cupti_, now_ns);
      return;
  }
}

void StackWindows::OnMissedCapture(CaptureEvent event) {
  if (event != CaptureEvent::kBegins && event != CaptureEvent::kBuilds) return;
  if (event == CaptureEvent::kBegins) captures_.fetch_add(1, std::memory_order_relaxed);
  no_capture_.store(NoCapture::kBusy, std::memory_order_relaxed);
}

NoCapture StackWindows::WatchCapture(bool calibration_due) {
  constexpr uint64_t kPatienceNs = 5'000'000;
  if (!callbacks_.on() && !callbacks_.nodes_on()) {
    // As when a window begins.
    if (!recorder_.LockWithin(kPatienceNs)) return NoCapture::kBusy;
    recorder_.stacks().BeginWindow();
    recorder_.Unlock();
  }
  return WatchNodes(calibration_due);
}

NoCapture StackWindows::WatchNodes(bool calibration_due) {
  if (callbacks_.nodes_on()) return NoCapture::kNone;
  if (calibration_due) return NoCapture::kBusy;
  if (cupti_.get_graph_node_id == nullptr) return NoCapture::kOtherRelease;
  if (client_.taken() || !client_.may_subscribe()) return NoCapture::kNotSubscribed;
  return callbacks_.NodesOn(cupti_, LaunchCallback) == cupti::kSuccess ? NoCapture::kNone
                                                                       : NoCapture::kNotSubscribed;
}

void StackWindows::LeaveOldCaptures(uint64_t now_ns) {
  const uint64_t patience_ns = IsCapturing() ? kMostCaptureNs : kMostUnusedNs;
  if (now_ns > captured_at_ns_ + patience_ns) callbacks_.SilenceNodes(cupti_, now_ns);
}

void StackWindows::OnNode(uint32_t event, const cupti::GraphData& graph) {
  if (graph.node_type != cupti::kKernelNode) return;
  const bool is_new = event == cupti::kGraphNodeCreated;
  // Clones are announced as new too, outside of captures and of instructions.
  if (is_new && CaptureWatch::Open() == 0 && CurrentInstruction() == 0) return;
  uint64_t node = 0, original = 0;
  if (cupti_.get_graph_node_id(graph.node, &node) != cupti::kSuccess || node == 0) return;
  if (is_new) return recorder_.stacks().OnCapturedNode(node);
  if (event != cupti::kGraphNodeCloned ||
      cupti_.get_graph_node_id(graph.original_node, &original) != cupti::kSuccess) {
    return;
  }
  recorder_.stacks().OnClonedNode(node, original);
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
  if (callbacks_.nodes_on() && IsCapturing()) {
    no_capture_.store(NoCapture::kNotSubscribed, std::memory_order_relaxed);
  }
  if (client_.TornDown()) return callbacks_.Lost();
  callbacks_.Off(cupti_);
}

}  // namespace utlz::agent
