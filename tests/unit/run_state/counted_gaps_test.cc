// What ran in gaps between windows, where the agent counted the operations in them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>

#include "collector/windows/window_gaps.h"
#include "collector/windows/window_work.h"
#include "proto/ring_abi.h"
#include "tests/unit/run_state/traced_program.h"

namespace utlz {
namespace {

// Busy and idle in turn, out of step with the windows: time beside a gap says little about it.
double InBursts(uint64_t now_ns) {
  return (now_ns - kBeginNs) / (70 * kMillisecondNs) % 3 == 0 ? 20'000 : 100;
}

TEST(CountedGaps, CountedGapsAreExact) {
  for (const uint64_t others : {0, 3}) {
    TracedProgram run(InBursts);
    run.CountOperations(others);
    for (int i = 0; i < 40; ++i) {
      run.Traced(30 * kMillisecondNs);
      run.Untraced(900 * kMillisecondNs);
    }
    run.Traced(30 * kMillisecondNs);
    run.Tell();
    EXPECT_NEAR(run.Estimate() / run.Truth(), 1, 1e-9);
  }
}

// A step of 31 ms begins with few long launches, and many short ones of other kernels follow. In a
// window that meets the beginning, few operations are counted.
TEST(CountedGaps, WindowsShorterThanAStepCountAllItsPartsAlike) {
  const auto step_ms = [](uint64_t now_ns) { return now_ns / kMillisecondNs % 31; };
  TracedProgram run([step_ms](uint64_t now_ns) { return step_ms(now_ns) < 12 ? 1'000 : 0; });
  run.RunBeside([step_ms](uint64_t now_ns) { return step_ms(now_ns) < 12 ? 0 : 20'000; });
  run.CountOperations(0);
  run.SendGaps();
  for (int i = 0; i < 200; ++i) {
    run.Traced(15 * kMillisecondNs);
    run.Untraced(114 * kMillisecondNs);
  }
  run.Traced(15 * kMillisecondNs);
  run.Tell();
  EXPECT_NEAR(run.Estimate() / run.Truth(), 1, 0.03);
}

TEST(CountedGaps, WindowsInWhichNothingRanLoseNothingOfTheGapsBesideThem) {
  for (const bool told : {false, true}) {
    // Requests come seldom, each of them longer than a window.
    TracedProgram run([](uint64_t now_ns) {
      const bool request = (now_ns - kBeginNs) / (230 * kMillisecondNs) % 7 == 0;
      return request || now_ns >= kBeginNs + 93 * kSecondNs ? 20'000 : 0;
    });
    run.CountOperations(0);
    if (told) run.SendGaps();
    for (int i = 0; i < 100; ++i) {
      run.Traced(30 * kMillisecondNs);
      run.Untraced(900 * kMillisecondNs);
    }
    run.Traced(100 * kMillisecondNs);
    run.Tell();
    EXPECT_NEAR(run.Estimate() / run.Truth(), 1, 1e-9) << told;
  }
}

TEST(CountedGaps, ALastGapAfterIdleWindowsGoesOnAsTheGapsBefore) {
  TracedProgram run([](uint64_t now_ns) { return now_ns < kBeginNs + 5 * kSecondNs ? 10'000 : 0; });
  run.CountOperations(0);
  for (int i = 0; i < 8; ++i) {
    run.Traced(100 * kMillisecondNs);
    run.Untraced(900 * kMillisecondNs);
  }
  run.Traced(0);
  run.Tell();
  // It cannot be seen when the launches of the fifth gap ended.
  EXPECT_NEAR(run.Estimate(), run.Truth() + 3 * 9'000, 100);
}

TEST(CountedGaps, WhatEndsWithTheProgramSaysNothingOfWhatOperationsTake) {
  for (const bool end : {false, true}) {
    TracedProgram run([](uint64_t) { return 10'000; });
    run.CountOperations(0);
    for (int i = 0; i < 3; ++i) {
      run.Traced(100 * kMillisecondNs);
      run.Untraced(900 * kMillisecondNs);
    }
    run.Traced(end ? 0 : 100 * kMillisecondNs);
    run.NumberOneMore();  // with a record that is no launch: the agent's own call at the end
    run.Tell();
    const auto stretches = WindowGaps(run.times()).Stretches();
    ASSERT_EQ(stretches.size(), 3u);
    EXPECT_TRUE(stretches[1].gap_operations.has_value());
    EXPECT_EQ(stretches[2].gap_operations.has_value(), !end);
    EXPECT_NEAR(run.Estimate(), run.Truth(), 1e-6) << "but it was counted";
  }
}

TEST(CountedGaps, ALastGapThatIsCountedIsExactHoweverEarlyTheProgramStopped) {
  TracedProgram run(
      [](uint64_t now_ns) { return now_ns < kBeginNs + 5'200 * kMillisecondNs ? 10'000 : 0; });
  run.CountOperations(0);
  for (int i = 0; i < 6; ++i) {
    run.Traced(100 * kMillisecondNs);
    run.Untraced(900 * kMillisecondNs);
  }
  run.Traced(0);
  run.NumberOneMore();
  run.Tell();
  EXPECT_NEAR(run.Estimate(), run.Truth(), 1e-6);
}

TEST(CountedGaps, CountsOfLongWindowsAreOfWhatIsBesideTheGap) {
  TracedProgram run(
      [](uint64_t now_ns) { return now_ns < kBeginNs + 2 * kSecondNs ? 100 : 9'000; });
  run.CountOperations(0);
  run.Traced(4 * kSecondNs);
  run.Untraced(3 * kSecondNs);
  run.Traced(2 * kSecondNs);
  run.Tell();
  EXPECT_NEAR(run.Estimate(), run.Truth(), 1);
}

TEST(CountedGaps, ALastGapGoesOnAsTheOneBeforeIt) {
  // Tracing makes it half as fast.
  const auto rate = [](uint64_t now_ns) {
    return (now_ns - kBeginNs) % kSecondNs < 100 * kMillisecondNs ? 5'000 : 10'000;
  };
  TracedProgram run(rate);
  run.CountOperations(0);
  for (int i = 0; i < 10; ++i) {
    run.Traced(100 * kMillisecondNs);
    run.Untraced(900 * kMillisecondNs);
  }
  run.Traced(0);
  run.Tell();
  EXPECT_NEAR(run.Estimate() / run.Truth(), 1, 0.001);
}

TEST(CountedGaps, RecordsThatComeLateAreCountedOnce) {
  WindowTimes times;
  TraceWindow window;
  window.set_flags(kTraceKernels);
  // 30 of the first window come with the second one's records.
  for (const auto& [recorded, numbered] :
       {std::pair{0, 0}, {970, 1000}, {1500, 3500}, {2000, 6000}}) {
    AgentStatus status;
    status.set_operations_recorded(static_cast<uint64_t>(recorded));
    status.set_operations_numbered(static_cast<uint64_t>(numbered));
    times.AddStatus(status);
    window.set_start_ns(kSecondNs * static_cast<uint64_t>(recorded + 1));
    window.set_end_ns(0);
    times.Add(window);
    window.set_end_ns(window.start_ns() + kMillisecondNs);
    times.Add(window);
  }
  const auto stretches = WindowGaps(times).Stretches();
  ASSERT_EQ(stretches.size(), 3u);
  EXPECT_EQ(*stretches[0].gap_operations + *stretches[1].gap_operations, 4000u - 30);
}

TEST(CountedGaps, CountsThatCannotBeAreNotUsed) {
  for (const uint64_t numbered : {uint64_t{0}, uint64_t{150'000}, uint64_t{250'000}, UINT64_MAX}) {
    WindowTimes times;
    TraceWindow window;
    window.set_flags(kTraceKernels);
    for (int i = 0; i < 2; ++i) {
      AgentStatus status;
      status.set_operations_recorded(100'000u * i);
      status.set_operations_numbered(100'000u * i);
      times.AddStatus(status);
      window.set_start_ns(1000 + 2000u * i);
      window.set_end_ns(0);
      times.Add(window);
      window.set_end_ns(2000 + 2000u * i);
      times.Add(window);
      for (int n = 0; n < 100; ++n) times.CountOperations({static_cast<uint32_t>(i), 0});
    }
    AgentStatus status;
    status.set_operations_recorded(200'000);
    status.set_operations_numbered(numbered);
    times.AddStatus(status);
    EXPECT_DOUBLE_EQ(WindowGaps(times).Weight(0, 5000), 0.5) << "by time, with " << numbered;
  }
}

TEST(CountedGaps, NumbersThatOtherCallsTakeTooAreNotUsed) {
  TracedProgram run([](uint64_t) { return 10'000; });
  run.CountOperations(0);
  run.SkipNumbers(1);
  for (int i = 0; i < 3; ++i) {
    run.Traced(100 * kMillisecondNs);
    run.Untraced(100 * kMillisecondNs);
  }
  run.Tell();
  EXPECT_FALSE(WindowGaps(run.times()).Stretches()[0].gap_operations.has_value());
}

TEST(CountedGaps, WhatACaptureTookInTheFirstWindowDoesNotMatter) {
  TracedProgram run(
      [](uint64_t time_ns) { return time_ns % kSecondNs < kSecondNs / 3 ? 9000 : 100; });
  run.CountOperations(0);
  run.SendGaps();
  run.Capture(200'000);
  run.Alternate(12, 100 * kMillisecondNs);
  EXPECT_NEAR(run.Estimate() / run.Truth(), 1, 0.001);
}

// The launches of one window are few against those of all gaps: what one of them loses may not be
// taken off the others'.
TEST(CountedGaps, WhatACaptureTookInOneWindowIsTakenOffItsOwnGapsAlone) {
  TracedProgram run([](uint64_t) { return 2000; });
  run.CountOperations(0);
  run.SendGaps();
  for (int i = 0; i < 40; ++i) {
    if (i == 20) run.Capture(700);
    run.Traced(20 * kMillisecondNs);
    run.Untraced(730 * kMillisecondNs);
  }
  run.Traced(20 * kMillisecondNs);
  run.Tell();
  EXPECT_NEAR(run.Estimate() / run.Truth(), 1, 0.02);
}

TEST(CountedGaps, ItsErrorIsWhatTheSidesOfGapsDifferBy) {
  // In some windows every second operation is another kernel's.
  const auto error_share = [](const std::function<uint64_t(int)>& others) {
    TracedProgram run([](uint64_t) { return 2000; });
    run.SendGaps();
    for (int i = 0; i <= 40; ++i) {
      run.CountOperations(others(i));
      run.Traced(20 * kMillisecondNs);
      if (i < 40) run.Untraced(730 * kMillisecondNs);
    }
    run.Tell();
    return run.ErrorNs() / run.InGaps().time_ns;
  };
  EXPECT_EQ(error_share([](int) { return 0; }), 0);
  EXPECT_EQ(error_share([](int) { return 1; }), 0);
  const double alternating = error_share([](int window) { return window % 2; });
  EXPECT_GT(alternating, 0.02);
  EXPECT_LT(alternating, 0.1) << "of forty gaps the errors average out";
  EXPECT_LT(error_share([](int window) { return window < 20 ? 0 : 1; }), 0.02)
      << "one gap of forty has sides that differ";
}

// Windows are shorter than a step, so that each meets one part of it; most stand beside two gaps.
TEST(CountedGaps, ItsErrorIsAsLargeAsEstimatesAreOff) {
  constexpr uint64_t kStepNs = 40 * kMillisecondNs;
  std::mt19937_64 random(1);
  std::uniform_int_distribution<uint64_t> pause_ms(100, 220);
  double squares = 0, variances = 0;
  for (int run_number = 0; run_number < 200; ++run_number) {
    TracedProgram run([&](uint64_t now_ns) { return now_ns % kStepNs < kStepNs / 4 ? 20'000 : 0; });
    run.RunBeside([](uint64_t) { return 40'000; });
    run.CountOperations(0);
    run.SendGaps();
    run.Traced(kSecondNs);
    for (int window = 0; window < 40; ++window) {
      run.Untraced(pause_ms(random) * kMillisecondNs);
      run.Traced(20 * kMillisecondNs);
    }
    run.Tell();
    const double off_ns = (run.Estimate() - run.Truth()) * 3000;
    squares += off_ns * off_ns;
    variances += run.ErrorNs() * run.ErrorNs();
  }
  EXPECT_NEAR(std::sqrt(squares / variances), 1, 0.15);
}

TEST(CountedGaps, NumbersThatOtherCallsTakeAreTakenOff) {
  TracedProgram run([](uint64_t) { return 10'000; });
  run.CountOperations(0);
  run.SendGaps();
  run.SkipNumbers(1);
  run.Alternate(12, 100 * kMillisecondNs);
  EXPECT_NEAR(run.Estimate() / run.Truth(), 1, 0.01);
  EXPECT_TRUE(WindowGaps(run.times()).Stretches()[0].gap_operations.has_value());
}

// Windows of a program that launches once a millisecond, and what the agent tells after each.
class Windows {
 public:
  void Traced(uint64_t milliseconds, uint64_t numbers_more, WindowWork* work) {
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(now_ns_);
    times_.Add(window);
    for (uint64_t i = 0; i < milliseconds; ++i) {
      const WindowTimes::Place place = times_.PlaceOf(now_ns_ + i * kMillisecondNs);
      times_.CountOperations(place);
      // What it begins with is not what it goes on with.
      if (!began_ && i < milliseconds / 2) continue;
      work->Add(times_, place, {1, 3000});
    }
    began_ = true;
    now_ns_ += milliseconds * kMillisecondNs;
    window.set_end_ns(now_ns_);
    times_.Add(window);
    recorded_ += milliseconds;
    unrecorded_ += numbers_more;
    AgentStatus status;
    status.set_operations_recorded(recorded_);
    status.set_operations_numbered(recorded_ + unrecorded_ + in_gaps_);
    status.set_operations_in_gaps(in_gaps_);
    times_.AddStatus(status);
  }
  void Untraced(uint64_t milliseconds) {
    now_ns_ += milliseconds * kMillisecondNs;
    in_gaps_ += milliseconds;
  }
  double InGaps(const WindowWork& work) const { return work.InGaps(times_, now_ns_).launches; }

 private:
  WindowTimes times_;
  uint64_t now_ns_ = kBeginNs;
  bool began_ = false;
  uint64_t recorded_ = 0;
  uint64_t unrecorded_ = 0;
  uint64_t in_gaps_ = 0;
};

TEST(CountedGaps, WhatAProgramBeginsWithIsNotThoughtToGoOn) {
  Windows windows;
  WindowWork goes_on;
  windows.Traced(1000, 0, &goes_on);
  windows.Untraced(1000);
  windows.Traced(20, 0, &goes_on);
  EXPECT_NEAR(windows.InGaps(goes_on), 1000, 1);
}

// An exit takes one: of the twenty that a window holds it would be five in a hundred.
TEST(CountedGaps, AFewNumbersWithoutARecordAreTakenOffNothing) {
  Windows windows;
  WindowWork work;
  windows.Traced(1000, 0, &work);
  for (int i = 0; i < 3; ++i) {
    windows.Untraced(1000);
    windows.Traced(20, i == 2 ? 1 : 0, &work);
  }
  EXPECT_NEAR(windows.InGaps(work), 3000, 1);
}

}  // namespace
}  // namespace utlz
