#include "inject/trace_switch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz::inject {
namespace {

uint64_t cupti_now_ns = 0;
std::set<uint32_t> kinds_on;
std::set<uint32_t> driver_calls_on;
std::set<uint32_t> runtime_calls_on;
// Of device 0 and of device 1, where they have one.
std::vector<uint32_t> primary_contexts;
std::map<uint32_t, std::set<uint32_t>> context_kinds_on;
int process_wide_calls = 0;
// What CUPTI answers when one of these kinds is switched on or off, by context or for the process.
std::map<uint32_t, cupti::Result> refused_kinds;
// In the order in which they were switched, by context: below zero where off.
std::vector<int> order;

cupti::Result ResultOf(uint32_t kind) {
  const auto found = refused_kinds.find(kind);
  return found == refused_kinds.end() ? cupti::kSuccess : found->second;
}

void Switch(std::set<uint32_t>* on, uint32_t what, bool enable) {
  if (enable) {
    on->insert(what);
  } else {
    on->erase(what);
  }
}

uint32_t IdentifierOf(cupti::Context context) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context));
}

CudaApi CudaStandIn() {
  CudaApi api{};
  api.device_get_count = [](int* count) {
    *count = 2;
    return cuda::kSuccess;
  };
  api.device_get = [](int* device, int ordinal) {
    *device = ordinal;
    return cuda::kSuccess;
  };
  api.primary_get_state = [](int device, unsigned* flags, int* active) {
    *flags = 0;
    *active = device < static_cast<int>(primary_contexts.size()) ? 1 : 0;
    return cuda::kSuccess;
  };
  api.primary_retain = [](cupti::Context* context, int device) {
    *context =
        reinterpret_cast<cupti::Context>(uintptr_t{primary_contexts[static_cast<size_t>(device)]});
    return cuda::kSuccess;
  };
  api.primary_release = [](int) { return cuda::kSuccess; };
  return api;
}

CuptiApi StandIn() {
  CuptiApi api{};
  api.get_timestamp = [](uint64_t* now_ns) {
    *now_ns = cupti_now_ns;
    return cupti::kSuccess;
  };
  api.activity_enable = [](uint32_t kind) {
    ++process_wide_calls;
    kinds_on.insert(kind);
    return ResultOf(kind);
  };
  api.activity_disable = [](uint32_t kind) {
    ++process_wide_calls;
    kinds_on.erase(kind);
    return ResultOf(kind);
  };
  api.activity_enable_context = [](cupti::Context context, uint32_t kind) {
    context_kinds_on[IdentifierOf(context)].insert(kind);
    order.push_back(static_cast<int>(kind));
    return ResultOf(kind);
  };
  api.activity_disable_context = [](cupti::Context context, uint32_t kind) {
    context_kinds_on[IdentifierOf(context)].erase(kind);
    order.push_back(-static_cast<int>(kind));
    return ResultOf(kind);
  };
  api.get_context_id = [](cupti::Context context, uint32_t* identifier) {
    *identifier = IdentifierOf(context);
    return cupti::kSuccess;
  };
  api.activity_enable_driver_api = [](uint32_t call, uint8_t enable) {
    Switch(&driver_calls_on, call, enable != 0);
    return cupti::kSuccess;
  };
  api.activity_enable_runtime_api = [](uint32_t call, uint8_t enable) {
    Switch(&runtime_calls_on, call, enable != 0);
    return cupti::kSuccess;
  };
  return api;
}

class TraceSwitchTest : public testing::Test {
 protected:
  TraceSwitchTest() : cupti_(StandIn()) {
    file_ = ring_.Create(kRingMinDataBytes);
    EXPECT_TRUE(recorder_.Create(&ring_, &cupti_, false));
    trace_.Create(&cupti_, &cuda_, &recorder_);
    kinds_on = driver_calls_on = runtime_calls_on = {};
    primary_contexts = {};
    context_kinds_on = {};
    process_wide_calls = 0;
    refused_kinds = {};
    order = {};
    cupti_now_ns = 1000;
  }
  ~TraceSwitchTest() override {
    munmap(ring_.header(), kRingHeaderBytes + kRingMinDataBytes);
    close(file_);
  }

  // The windows that were told since the last call.
  std::vector<TraceWindow> Windows() {
    std::vector<TraceWindow> windows;
    const auto* data = reinterpret_cast<const uint8_t*>(ring_.header()) + kRingHeaderBytes;
    while (position_ < ring_.header()->producer.write_position.load()) {
      FrameHeader frame;
      std::memcpy(&frame, data + position_, sizeof frame);
      TraceWindow window;
      EXPECT_EQ(frame.type, FRAME_TRACE_WINDOW);
      EXPECT_TRUE(window.ParseFromArray(data + position_ + sizeof frame,
                                        static_cast<int>(frame.payload_bytes)));
      windows.push_back(window);
      position_ += FrameBytes(frame.payload_bytes);
    }
    return windows;
  }

  // A record of a kernel in some context comes.
  void RecordIn(uint32_t context) {
    static uint32_t record_context;
    static bool handed_over;
    record_context = context;
    handed_over = false;
    cupti_.activity_get_next_record = [](uint8_t*, size_t, cupti::RecordHead** record) {
      static cupti::MemsetRecord memset;
      if (handed_over) return cupti::kErrorMaxLimitReached;
      handed_over = true;
      memset = {};
      memset.kind = cupti::kKindMemset;
      memset.context_id = record_context;
      *record = reinterpret_cast<cupti::RecordHead*>(&memset);
      return cupti::kSuccess;
    };
    uint8_t buffer[sizeof(cupti::MemsetRecord)] = {};
    recorder_.Lock();
    recorder_.Consume(buffer, sizeof buffer);
    recorder_.Unlock();
  }

  CudaApi cuda_ = CudaStandIn();
  CuptiApi cupti_;
  RingWriter ring_;
  Recorder recorder_;
  TraceSwitch trace_;
  int file_ = -1;
  uint64_t position_ = 0;
};

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
  EXPECT_TRUE(context_kinds_on[8].contains(cupti::kKindConcurrentKernel)) << "tried all the same";
  EXPECT_FALSE(kinds_on.contains(cupti::kKindMarker)) << "ranges of nothing";
  primary_contexts = {};
  EXPECT_EQ(trace_.On(kTraceCopies), 21) << "for the process";
  refused_kinds = {{cupti::kKindMarker, 23}};
  EXPECT_EQ(trace_.On(kTraceKernels | kTraceMarkers), 23);
  EXPECT_FALSE(trace_.on());
  refused_kinds = {};
  EXPECT_EQ(trace_.On(kTraceKernels | kTraceMarkers), cupti::kSuccess);
  EXPECT_TRUE(trace_.on());
}

TEST_F(TraceSwitchTest, WhatOneContextRefusesIsToldWhateverTheNextOneSays) {
  primary_contexts = {7, 8};
  cupti_.activity_enable_context = [](cupti::Context context, uint32_t) {
    return IdentifierOf(context) == 7 ? 21 : cupti::kSuccess;
  };
  EXPECT_EQ(trace_.On(kTraceKernels), 21);
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

TEST_F(TraceSwitchTest, GraphsAreRecordedWholeWhereAskedFor) {
  ASSERT_EQ(trace_.On(kTraceGraphLaunches), cupti::kSuccess);
  EXPECT_EQ(kinds_on, std::set<uint32_t>{cupti::kKindGraphTrace});
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

const std::set<uint32_t> kKernelsAndCopies = {cupti::kKindConcurrentKernel, cupti::kKindMemcpy,
                                              cupti::kKindMemcpy2, cupti::kKindMemset};

TEST_F(TraceSwitchTest, BeforeThereAreContextsTheProcessIsSwitched) {
  ASSERT_EQ(trace_.On(kTraceKernels | kTraceCopies), cupti::kSuccess);
  EXPECT_EQ(kinds_on, kKernelsAndCopies);
}

TEST_F(TraceSwitchTest, ContextsArePausedOneByOne) {
  ASSERT_EQ(trace_.On(kTraceKernels | kTraceCopies), cupti::kSuccess);
  primary_contexts = {7, 8};
  RecordIn(8);
  EXPECT_TRUE(trace_.Pausable());
  const int calls_before = process_wide_calls;
  trace_.Off("budget");
  EXPECT_TRUE(context_kinds_on[7].empty());
  EXPECT_TRUE(context_kinds_on[8].empty());
  trace_.OffAgain();
  ASSERT_EQ(trace_.On(kTraceKernels | kTraceCopies), cupti::kSuccess);
  EXPECT_EQ(context_kinds_on[7], kKernelsAndCopies);
  EXPECT_EQ(context_kinds_on[8], kKernelsAndCopies);
  EXPECT_EQ(process_wide_calls, calls_before) << "which may kill the process while it launches";
}

TEST_F(TraceSwitchTest, AVisitToARunningProcessSwitchesItsContexts) {
  primary_contexts = {7};
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  EXPECT_TRUE(context_kinds_on[7].contains(cupti::kKindConcurrentKernel));
  primary_contexts = {7, 9};
  trace_.FollowNewContexts();
  EXPECT_TRUE(context_kinds_on[9].contains(cupti::kKindConcurrentKernel));
  trace_.Off(nullptr);
  trace_.OffForNewContexts();
  EXPECT_TRUE(context_kinds_on[7].empty());
  EXPECT_TRUE(context_kinds_on[9].empty());
  EXPECT_EQ(process_wide_calls, 0);
}

TEST_F(TraceSwitchTest, ContextsThatComeLaterBeginTracedWhereTheProcessIs) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  primary_contexts = {7};
  trace_.FollowNewContexts();
  EXPECT_TRUE(order.empty()) << "the process was switched on";
  trace_.OffForNewContexts();
  EXPECT_FALSE(kinds_on.empty()) << "not while it is on";
}

TEST_F(TraceSwitchTest, ContextsThatComeAreFollowedOnceTheProcessIsOff) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Off("budget");
  primary_contexts = {7};
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  primary_contexts = {7, 9};
  trace_.FollowNewContexts();
  EXPECT_FALSE(context_kinds_on[9].empty());
}

TEST_F(TraceSwitchTest, ContextsThatComeInAPauseWaitForItsEnd) {
  primary_contexts = {7};
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Off("budget");
  primary_contexts = {7, 9};
  trace_.FollowNewContexts();
  EXPECT_TRUE(context_kinds_on[9].empty());
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  EXPECT_FALSE(context_kinds_on[9].empty());
}

TEST_F(TraceSwitchTest, NothingIsSwitchedWhileNoContextIsNew) {
  primary_contexts = {7};
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  const size_t switched = order.size();
  trace_.FollowNewContexts();
  EXPECT_EQ(order.size(), switched);
  primary_contexts = {7, 9};
  trace_.FollowNewContexts();
  const size_t switched_for_both = order.size();
  EXPECT_GT(switched_for_both, switched);
  trace_.FollowNewContexts();
  EXPECT_EQ(order.size(), switched_for_both) << "once";
}

TEST_F(TraceSwitchTest, AContextThatWasLeftAndMadeAnewIsTraced) {
  primary_contexts = {7, 9};
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  primary_contexts = {7};
  trace_.FollowNewContexts();
  primary_contexts = {7, 10};
  trace_.FollowNewContexts();
  EXPECT_FALSE(context_kinds_on[10].empty());
}

TEST_F(TraceSwitchTest, WhatNewContextsBeginWithIsTheOtherClientsToSay) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Lost("taken", 4000);
  const int calls_before = process_wide_calls;
  trace_.OffForNewContexts();
  EXPECT_EQ(process_wide_calls, calls_before);
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

TEST_F(TraceSwitchTest, AVisitThatCameBeforeAllContextsLeavesNothingOn) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  primary_contexts = {7};
  RecordIn(7);
  trace_.Off(nullptr);
  trace_.OffForNewContexts();
  EXPECT_TRUE(kinds_on.empty());
}

TEST_F(TraceSwitchTest, WorkInAContextOfItsOwnIsNotPausable) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  primary_contexts = {7};
  RecordIn(7);
  EXPECT_TRUE(trace_.Pausable());
  RecordIn(12);
  EXPECT_FALSE(trace_.Pausable()) << "from cuCtxCreate";
  trace_.Off(nullptr);
  EXPECT_TRUE(kinds_on.empty()) << "asked for all the same";
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  EXPECT_TRUE(trace_.Pausable()) << "a window without it";
}

TEST_F(TraceSwitchTest, WithoutSwitchesForContextsTheProcessIsSwitchedAndNotPausable) {
  const std::vector<void (*)(CuptiApi*)> missing = {
      [](CuptiApi* api) { api->activity_enable_context = nullptr; },
      [](CuptiApi* api) { api->activity_disable_context = nullptr; },
      [](CuptiApi* api) { api->get_context_id = nullptr; }};
  primary_contexts = {7};
  for (const auto& remove : missing) {
    cupti_ = StandIn();
    remove(&cupti_);
    ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
    EXPECT_TRUE(order.empty());
    EXPECT_FALSE(kinds_on.empty());
    EXPECT_FALSE(trace_.Pausable());
    trace_.Off(nullptr);
    EXPECT_TRUE(kinds_on.empty());
    EXPECT_TRUE(order.empty());
  }
}

}  // namespace
}  // namespace utlz::inject
