// A program for tests. utlz traces its first steps one after the other, and later ones only now and
// then. The GPU waits longer in some of these steps than in others.
#ifndef UTLZ_TESTS_SUPPORT_UNEVEN_WINDOWS_H_
#define UTLZ_TESTS_SUPPORT_UNEVEN_WINDOWS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "proto/ring_abi.h"
#include "tests/support/made_up_loads.h"

namespace utlz {

// Every step launches kernel_0 to kernel_3 once, for as long as every time. A test says how long
// the GPU waits before each of them.
class UnevenWindows {
 public:
  static constexpr uint32_t kKernels = 4;
  static constexpr uint64_t kKernelNs = 100 * kMicrosecond;
  using Waits = std::array<uint64_t, kKernels>;

  // `run`: RunBuilder or RecordedProfile. `stacks`: that launch the kernels; 0 where none is known.
  template <typename Run>
  explicit UnevenWindows(Run* run, const std::array<uint32_t, kKernels>& stacks = {})
      : send_window_([run](const auto& window) { run->Send(1, FRAME_TRACE_WINDOW, window); }),
        send_status_([run](const auto& status) { run->Send(1, FRAME_AGENT_STATUS, status); }),
        send_launches_([run](const auto& launches) { run->SendLaunches(launches); }),
        stacks_(stacks) {}

  // A step begins with the wait before its second kernel, and ends with that before the next one's
  // first.
  void Window(int steps, const Waits& waits) {
    Tell();
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(kRunStartNs + now_ns_);
    send_window_(window);
    for (int i = 0; i < steps; ++i) TracedStep(waits);
    window.set_end_ns(kRunStartNs + now_ns_);
    send_window_(window);
    Tell();
  }

  // Between two windows.
  void Gap(int steps, const Waits& waits) {
    for (int i = 0; i < steps; ++i) {
      for (uint32_t kernel = 0; kernel < kKernels; ++kernel) Pass(kernel, waits);
    }
  }

  uint64_t now_ns() const { return now_ns_; }
  // Of all steps, traced or not: for how long the GPU waits before this kernel in one of them.
  double TrueWaitNs(uint32_t kernel) const { return waited_ns_[kernel] / steps_; }
  double TrueWaitNs() const {
    double sum_ns = 0;
    for (uint32_t kernel = 0; kernel < kKernels; ++kernel) sum_ns += TrueWaitNs(kernel);
    return sum_ns;
  }

 private:
  // One kernel, and the wait after it.
  void Pass(uint32_t kernel, const Waits& waits) {
    const uint32_t next = (kernel + 1) % kKernels;
    now_ns_ += kKernelNs + waits[next];
    waited_ns_[next] += static_cast<double>(waits[next]);
    steps_ += 1.0 / kKernels;
    ++numbered_;
  }

  void TracedStep(const Waits& waits) {
    std::vector<Launch> launches;
    for (uint32_t kernel = 0; kernel < kKernels; ++kernel) {
      launches.push_back(RunBuilder::LaunchAt(now_ns_, kKernelNs, kernel));
      launches.back().stack = stacks_[kernel];
      Pass(kernel, waits);
    }
    send_launches_(launches);
    recorded_ += kKernels;
    newest_recorded_ = numbered_;
  }

  void Tell() {
    AgentStatus status;
    status.set_time_ns(kRunStartNs + now_ns_);
    status.set_launches_recorded(recorded_);
    status.set_operations_recorded(recorded_);
    status.set_operations_numbered(newest_recorded_);
    send_status_(status);
  }

  std::function<void(const TraceWindow&)> send_window_;
  std::function<void(const AgentStatus&)> send_status_;
  std::function<void(const std::vector<Launch>&)> send_launches_;
  std::array<uint32_t, kKernels> stacks_;
  std::array<double, kKernels> waited_ns_{};
  double steps_ = 0;
  uint64_t now_ns_ = kMillisecond;
  uint64_t recorded_ = 0;
  uint64_t numbered_ = 0;
  uint64_t newest_recorded_ = 0;
};

// A dense window of 250 steps and twenty sparse ones of six, with a hundred steps between two
// windows; the program changes in the middle of the first gap.
inline void RunDenseThenSparse(const UnevenWindows::Waits& dense,
                               const UnevenWindows::Waits& sparse, UnevenWindows* program) {
  program->Window(250, dense);
  program->Gap(50, dense);
  for (int i = 0; i < 20; ++i) {
    program->Gap(i == 0 ? 50 : 100, sparse);
    program->Window(6, sparse);
  }
}

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_UNEVEN_WINDOWS_H_
