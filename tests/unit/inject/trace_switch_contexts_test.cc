// Contexts: switched one by one, and those that come later.
#include <gtest/gtest.h>

#include "inject/tracing/trace_switch.h"
#include "tests/unit/inject/trace_switch_stand_ins.h"

namespace utlz::agent {
namespace {

TEST_F(TraceSwitchTest, WhatOneContextRefusesIsToldWhateverTheNextOneSays) {
  primary_contexts = {7, 8};
  cupti_.activity_enable_context = [](cupti::Context context, uint32_t) {
    return IdentifierOf(context) == 7 ? 21 : cupti::kSuccess;
  };
  EXPECT_EQ(trace_.On(kTraceKernels), 21);
}

TEST_F(TraceSwitchTest, WhatOneContextRefusesIsSwitchedOffInThoseBeforeIt) {
  primary_contexts = {7, 8};
  cupti_.activity_enable_context = [](cupti::Context context, uint32_t kind) {
    if (IdentifierOf(context) == 8) return cupti::Result{21};
    context_kinds_on[7].insert(kind);
    return cupti::kSuccess;
  };
  EXPECT_EQ(trace_.On(kTraceKernels | kTraceCopies), 21);
  EXPECT_TRUE(context_kinds_on[7].empty());
}

TEST_F(TraceSwitchTest, ANewContextThatRefusesAKindChangesNothingInTheOthers) {
  primary_contexts = {7};
  ASSERT_EQ(trace_.On(kTraceKernels | kTraceCopies), cupti::kSuccess);
  primary_contexts = {7, 9};
  refused_kinds = {{cupti::kKindMemcpy, 21}};
  trace_.FollowNewContexts();
  EXPECT_EQ(context_kinds_on[7], kKernelsAndCopies);
  EXPECT_TRUE(context_kinds_on[9].contains(cupti::kKindConcurrentKernel));
  EXPECT_TRUE(context_kinds_on[9].contains(cupti::kKindMemset));
}

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

TEST_F(TraceSwitchTest, AnAttachmentToARunningProcessSwitchesItsContexts) {
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

TEST_F(TraceSwitchTest, AnAttachmentThatCameBeforeAllContextsLeavesNothingOn) {
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
    cupti_ = CuptiStandIn();
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
}  // namespace utlz::agent
