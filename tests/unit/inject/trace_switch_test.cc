// Windows, the gaps between them, and the kinds of records.
#include "inject/tracing/trace_switch.h"

#include <gtest/gtest.h>

#include "tests/unit/inject/trace_switch_stand_ins.h"

namespace utlz::agent {
namespace {

TEST_F(TraceSwitchTest, AWindowThatIsLostEndedWhenRecordsWereLastHandedOver) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  cupti_now_ns = 9000;
  trace_.Lost("taken", 4000);
  cupti_now_ns = 20'000;
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  const std::vector<TraceWindow> windows = Windows();
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_EQ(windows[0].start_ns(), 1000u);
  EXPECT_EQ(windows[0].end_ns(), 0u);
  EXPECT_EQ(windows[1].end_ns(), 4000u) << "what came later may be in the other's hands";
  EXPECT_EQ(windows[2].start_ns(), 20'000u);
  EXPECT_EQ(windows[2].gap_reason(), "taken");
}

TEST_F(TraceSwitchTest, AWindowWithoutAHandOverIsEmpty) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Lost("taken", 0);
  EXPECT_EQ(Windows().back().end_ns(), 1000u);
}

TEST_F(TraceSwitchTest, AGapEndsWithTheProcessWithoutACallOfCupti) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Lost("taken", 4000);
  cupti_.get_timestamp = nullptr;
  trace_.EndGap();
  const std::vector<TraceWindow> windows = Windows();
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_GT(windows[2].start_ns(), 4000u);
  EXPECT_EQ(windows[2].end_ns(), windows[2].start_ns());
  EXPECT_EQ(windows[2].gap_reason(), "taken");
  trace_.EndGap();
  EXPECT_TRUE(Windows().empty());
}

TEST_F(TraceSwitchTest, WhatNobodyWantedIsNoGap) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Off(nullptr);
  Windows();
  trace_.EndGap();
  EXPECT_TRUE(Windows().empty());
}

TEST_F(TraceSwitchTest, AWindowTellsWhyTheGapBeforeItWas) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  EXPECT_FALSE(trace_.InGap());
  trace_.Off("budget");
  EXPECT_TRUE(trace_.InGap());
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Off(nullptr);
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  std::vector<std::string> reasons;
  for (const TraceWindow& window : Windows()) reasons.push_back(window.gap_reason());
  EXPECT_EQ(reasons, (std::vector<std::string>{"", "", "budget", "", ""})) << "once";
}

TEST_F(TraceSwitchTest, WhatIsOffIsNotSwitchedOffAgain) {
  trace_.Off("budget");
  trace_.Lost("taken", 5000);
  EXPECT_TRUE(Windows().empty());
  EXPECT_FALSE(trace_.InGap());
  EXPECT_EQ(process_wide_calls, 0);
}

// A kernel of its own that ran across the end of a window, and a graph's node from before it began.
TEST_F(TraceSwitchTest, RecordsThatAWindowCutsAreKnown) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  cupti_now_ns = 2000;
  trace_.Off("budget");
  EXPECT_FALSE(recorder_.switch_times().Cut(1500, 1900, false));
  EXPECT_TRUE(recorder_.switch_times().Cut(1500, 2500, false));
  EXPECT_TRUE(recorder_.switch_times().Cut(500, 900, true));
}

TEST_F(TraceSwitchTest, WindowsAreOnTheRealtimeClockWhereAnotherClientGaveCuptiItsOwn) {
  recorder_.clock().Pair(5000, 1'700'000'000'000'000'000);
  ASSERT_TRUE(recorder_.clock().foreign());
  cupti_now_ns = 5000;
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Off(nullptr);
  const std::vector<TraceWindow> windows = Windows();
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_GT(windows[1].start_ns(), 1'700'000'000'000'000'000u);
  EXPECT_GE(windows[1].end_ns(), windows[1].start_ns());
}

TEST_F(TraceSwitchTest, ARefusedKindIsToldAndNoWindowBegins) {
  primary_contexts = {7, 8};
  refused_kinds = {{cupti::kKindMemcpy, 21}, {cupti::kKindMemset, 22}};
  EXPECT_EQ(trace_.On(kTraceKernels | kTraceCopies | kTraceMarkers), 21) << "the first one";
  EXPECT_FALSE(trace_.on());
  EXPECT_TRUE(Windows().empty());
  primary_contexts = {};
  EXPECT_EQ(trace_.On(kTraceCopies), 21) << "for the process";
  refused_kinds = {{cupti::kKindMarker, 23}};
  EXPECT_EQ(trace_.On(kTraceKernels | kTraceMarkers), 23);
  EXPECT_FALSE(trace_.on());
  refused_kinds = {};
  EXPECT_EQ(trace_.On(kTraceKernels | kTraceMarkers), cupti::kSuccess);
  EXPECT_TRUE(trace_.on());
}

TEST_F(TraceSwitchTest, WhatIsRefusedLeavesNothingOn) {
  for (const uint32_t refused :
       {uint32_t{cupti::kKindConcurrentKernel}, uint32_t{cupti::kKindMemcpy},
        uint32_t{cupti::kKindMemset}, uint32_t{cupti::kKindMarker}}) {
    refused_kinds = {{refused, 21}};
    for (const std::vector<uint32_t>& contexts : {std::vector<uint32_t>{}, {7}, {7, 8}}) {
      primary_contexts = contexts;
      EXPECT_EQ(trace_.On(kTraceKernels | kTraceCopies | kTraceMarkers | kTraceLaunchCalls), 21);
      EXPECT_TRUE(kinds_on.empty()) << refused;
      EXPECT_TRUE(context_kinds_on[7].empty()) << refused;
      EXPECT_TRUE(context_kinds_on[8].empty()) << refused;
      EXPECT_TRUE(driver_calls_on.empty()) << refused;
      const int calls_before = process_wide_calls;
      trace_.OffForNewContexts();
      EXPECT_EQ(process_wide_calls, calls_before) << "new contexts do not begin traced";
    }
  }
}

// Another client may have it on in another way, which is why it is refused.
TEST_F(TraceSwitchTest, WhatIsRefusedIsNotSwitchedOff) {
  primary_contexts = {7};
  refused_kinds = {{cupti::kKindMemcpy2, 21}};
  EXPECT_EQ(trace_.On(kTraceKernels | kTraceCopies), 21);
  const int kernels = cupti::kKindConcurrentKernel, copies = cupti::kKindMemcpy,
            refused = cupti::kKindMemcpy2;
  EXPECT_EQ(order, (std::vector<int>{kernels, copies, refused, -copies, -kernels}));
}

TEST_F(TraceSwitchTest, MarkersBelongToTheProcess) {
  primary_contexts = {7};
  ASSERT_EQ(trace_.On(kTraceKernels | kTraceMarkers), cupti::kSuccess);
  EXPECT_EQ(kinds_on, std::set<uint32_t>{cupti::kKindMarker});
  EXPECT_EQ(context_kinds_on[7], std::set<uint32_t>{cupti::kKindConcurrentKernel});
  trace_.Off(nullptr);
  EXPECT_TRUE(kinds_on.empty());
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  EXPECT_TRUE(kinds_on.empty());
}

TEST_F(TraceSwitchTest, KernelsAreOnFirstAndOffLast) {
  primary_contexts = {7};
  ASSERT_EQ(trace_.On(kTraceKernels | kTraceCopies), cupti::kSuccess);
  EXPECT_EQ(order.front(), static_cast<int>(cupti::kKindConcurrentKernel));
  trace_.Off(nullptr);
  EXPECT_EQ(order.back(), -static_cast<int>(cupti::kKindConcurrentKernel));
}

TEST_F(TraceSwitchTest, LaunchCallsAreRecordedWhereAskedFor) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  EXPECT_TRUE(driver_calls_on.empty());
  trace_.Off(nullptr);
  ASSERT_EQ(trace_.On(kTraceKernels | kTraceMarkers | kTraceLaunchCalls), cupti::kSuccess);
  EXPECT_TRUE(driver_calls_on.contains(307)) << "cuLaunchKernel";
  EXPECT_TRUE(runtime_calls_on.contains(211)) << "cudaLaunchKernel";
  EXPECT_FALSE(kinds_on.contains(cupti::kKindDriver)) << "never all calls";
  trace_.Off(nullptr);
  EXPECT_TRUE(driver_calls_on.empty());
  EXPECT_TRUE(runtime_calls_on.empty());
  EXPECT_TRUE(kinds_on.empty());
}

TEST_F(TraceSwitchTest, AnOlderCuptiThatCannotChooseCallsIsLeftAlone) {
  cupti_.activity_enable_driver_api = nullptr;
  EXPECT_EQ(trace_.On(kTraceKernels | kTraceLaunchCalls), cupti::kSuccess);
  EXPECT_TRUE(runtime_calls_on.empty());
}

// CUPTI 13.0 goes on with graphs until it is switched on and off once more.
TEST_F(TraceSwitchTest, OffAgainSwitchesKernelsOnAndOff) {
  primary_contexts = {7, 8};
  ASSERT_EQ(trace_.On(kTraceKernels | kTraceCopies), cupti::kSuccess);
  order.clear();
  trace_.OffAgain();
  EXPECT_TRUE(order.empty()) << "it is on";
  trace_.Off("budget");
  order.clear();
  process_wide_calls = 0;
  trace_.OffAgain();
  const int kernels = cupti::kKindConcurrentKernel;
  EXPECT_EQ(order, (std::vector<int>{kernels, -kernels, kernels, -kernels}));
  EXPECT_EQ(process_wide_calls, 0);

  RecordIn(12);  // of a context of its own, which no other call reaches
  kinds_on = {cupti::kKindMarker};
  order.clear();
  trace_.OffAgain();
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(process_wide_calls, 2);
  EXPECT_EQ(kinds_on, std::set<uint32_t>{cupti::kKindMarker});
}

TEST_F(TraceSwitchTest, OffAgainLeavesCopiesAlone) {
  ASSERT_EQ(trace_.On(kTraceCopies), cupti::kSuccess);
  trace_.Off(nullptr);
  process_wide_calls = 0;
  trace_.OffAgain();
  EXPECT_EQ(process_wide_calls, 0);
}

}  // namespace
}  // namespace utlz::agent
