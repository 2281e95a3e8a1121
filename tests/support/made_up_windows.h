// Trace windows of a program, and what ran in them and between them; for tests.
#ifndef UTLZ_TESTS_SUPPORT_MADE_UP_WINDOWS_H_
#define UTLZ_TESTS_SUPPORT_MADE_UP_WINDOWS_H_

#include <cstdint>
#include <random>

#include "collector/windows/window_times.h"
#include "proto/ring_abi.h"
#include "tests/support/made_up_loads.h"

namespace utlz {

// A program whose operations take `untraced_ns` each, and `traced_ns` in windows of 25 ms. In the
// window `idle` nothing runs.
inline WindowTimes WindowsOf(double untraced_ns, double traced_ns, int windows, double noise,
                             bool counted, int idle = -1) {
  std::mt19937 random(5);
  std::normal_distribution<double> spread(1, noise);
  WindowTimes times;
  uint64_t now_ns = 1'000'000'000, recorded = 0, numbered = 0, newest_recorded = 0;
  const auto pass = [&](uint64_t duration_ns, double operation_ns) {
    now_ns += duration_ns;
    return static_cast<uint64_t>(static_cast<double>(duration_ns) /
                                 (operation_ns * spread(random)));
  };
  const auto tell = [&] {
    AgentStatus status;
    status.set_operations_recorded(recorded);
    status.set_operations_numbered(newest_recorded);
    if (counted) times.AddStatus(status);
  };
  for (int i = 0; i < windows; ++i) {
    tell();
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(now_ns);
    times.Add(window);
    const uint64_t operations = pass(25 * kMillisecond, i == idle ? 1e12 : traced_ns);
    recorded += operations;
    numbered += operations;
    if (operations > 0) newest_recorded = numbered;
    window.set_end_ns(now_ns);
    times.Add(window);
    tell();
    numbered += pass(1000 * kMillisecond, untraced_ns);
  }
  return times;
}

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_MADE_UP_WINDOWS_H_
