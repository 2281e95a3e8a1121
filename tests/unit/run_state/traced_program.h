// A program that is traced in windows, for tests of what ran in the gaps between them.
#ifndef UTLZ_TESTS_UNIT_RUN_STATE_TRACED_PROGRAM_H_
#define UTLZ_TESTS_UNIT_RUN_STATE_TRACED_PROGRAM_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "collector/windows/window_work.h"
#include "proto/ring_abi.h"
#include "tests/support/nanoseconds.h"

namespace utlz {

// A program that launches at a rate which changes with time, traced in windows.
class TracedProgram {
 public:
  explicit TracedProgram(std::function<double(uint64_t)> launches_per_second)
      : launches_per_second_(std::move(launches_per_second)) {}

  // From here on the agent tells how many operations there were; `others` of them for each launch.
  void CountOperations(uint64_t others) {
    counts_ = true;
    others_ = others;
  }
  // Operations of other kernels, at a rate of their own.
  void RunBeside(std::function<double(uint64_t)> operations_per_second) {
    beside_per_second_ = std::move(operations_per_second);
  }
  // So many calls for each launch have a number and no record.
  void SkipNumbers(uint64_t numbers) { skipped_ = numbers; }
  // The agent tells numbers that pass in gaps from those that pass in windows.
  void SendGaps() { sends_gaps_ = true; }
  // Launches into a capture have numbers and never a record.
  void Capture(uint64_t launches) { numbered_ += launches; }
  void NumberOneMore() {
    in_gaps_ += numbered_ - newest_recorded_;
    ++recorded_;
    newest_recorded_ = ++numbered_;
  }
  void Tell() {
    AgentStatus status;
    status.set_operations_recorded(recorded_);
    status.set_operations_numbered(newest_recorded_);
    if (sends_gaps_) status.set_operations_in_gaps(in_gaps_);
    if (counts_) times_.AddStatus(status);
  }

  void Traced(uint64_t duration_ns) {
    Tell();
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(now_ns_);
    times_.Add(window);
    const uint64_t end_ns = now_ns_ + duration_ns;
    gap_numbers_ = recorded_ != 0 ? numbered_ - newest_recorded_ : 0;
    Launch(end_ns, true);
    window.set_end_ns(end_ns);
    times_.Add(window);
  }
  void Untraced(uint64_t duration_ns) { Launch(now_ns_ + duration_ns, false); }
  // Windows with gaps between them, and what was counted told after the last.
  void Alternate(int gaps, uint64_t window_ns) {
    for (int i = 0; i < gaps; ++i) {
      Traced(window_ns);
      Untraced(730 * kMillisecondNs);
    }
    Traced(window_ns);
    Tell();
  }

  double Truth() const { return static_cast<double>(launches_); }
  double Estimate() const { return traced_ + work_.InGaps(times_, now_ns_).launches; }
  const WindowTimes& times() const { return times_; }
  KernelSum InGaps() const { return work_.InGaps(times_, now_ns_); }
  double ErrorNs() const { return std::sqrt(work_.TimeVarianceInGaps(times_, now_ns_)); }

 private:
  static constexpr uint64_t kDurationNs = 3000;

  void Launch(uint64_t end_ns, bool traced) {
    while (now_ns_ < end_ns) {
      if (beside_per_second_) LaunchBeside(traced);
      due_ += launches_per_second_(now_ns_) * 1e-3;
      for (; due_ >= 1; due_ -= 1) {
        ++launches_;
        numbered_ += 1 + others_ + skipped_;
        if (!traced) continue;
        in_gaps_ += std::exchange(gap_numbers_, 0);  // seen with the first record
        ++traced_;
        recorded_ += 1 + others_;
        newest_recorded_ = numbered_;
        for (uint64_t i = 0; i <= others_; ++i) times_.CountOperations(times_.PlaceOf(now_ns_));
        work_.Add(times_, times_.PlaceOf(now_ns_), {1, kDurationNs});
      }
      now_ns_ += kMillisecondNs;
    }
  }

  void LaunchBeside(bool traced) {
    const auto operations = static_cast<uint32_t>(beside_per_second_(now_ns_) * 1e-3);
    numbered_ += operations;
    if (!traced || operations == 0) return;
    in_gaps_ += std::exchange(gap_numbers_, 0);
    recorded_ += operations;
    newest_recorded_ = numbered_;
    times_.CountOperations(times_.PlaceOf(now_ns_), operations);
  }

  std::function<double(uint64_t)> launches_per_second_;
  std::function<double(uint64_t)> beside_per_second_;
  WindowTimes times_;
  WindowWork work_;
  uint64_t now_ns_ = 1000 * kSecondNs;
  double due_ = 0;
  uint64_t launches_ = 0;
  double traced_ = 0;
  bool counts_ = false;
  uint64_t others_ = 0;
  uint64_t skipped_ = 0;
  bool sends_gaps_ = false;
  uint64_t in_gaps_ = 0;
  uint64_t gap_numbers_ = 0;  // passed before this window, and not seen yet
  uint64_t recorded_ = 0;
  uint64_t numbered_ = 0;
  uint64_t newest_recorded_ = 0;
};

inline constexpr uint64_t kBeginNs = 1000 * kSecondNs;

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_RUN_STATE_TRACED_PROGRAM_H_
