#include "collector/session/records_watch.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

void SayState(RecordsWatch* watch, RecordsState state) {
  AgentStatus status;
  status.set_records_state(state);
  watch->Consume(FRAME_AGENT_STATUS, status.SerializeAsString());
}

void SayWindow(RecordsWatch* watch, uint64_t start_ns, uint64_t end_ns) {
  TraceWindow window;
  window.set_start_ns(start_ns);
  window.set_end_ns(end_ns);
  watch->Consume(FRAME_TRACE_WINDOW, window.SerializeAsString());
}

TEST(RecordsWatch, NobodyKnowsOfAnAgentThatSaysNothing) {
  RecordsWatch watch;
  EXPECT_EQ(watch.now(), RecordsNow::kInWindows);
  SayState(&watch, RECORDS_STATE_UNKNOWN);
  EXPECT_EQ(watch.now(), RecordsNow::kInWindows);
}

TEST(RecordsWatch, RecordsThatEndForGood) {
  RecordsWatch watch;
  SayWindow(&watch, 10, 0);
  SayState(&watch, RECORDS_FROM_START);
  EXPECT_EQ(watch.now(), RecordsNow::kThroughout);
  SayWindow(&watch, 10, 20);
  EXPECT_EQ(watch.now(), RecordsNow::kNone) << "before a status says so";
  SayState(&watch, RECORDS_PAUSED);
  EXPECT_EQ(watch.now(), RecordsNow::kNone);
  SayState(&watch, RECORDS_ENDED);
  EXPECT_EQ(watch.now(), RecordsNow::kNone);
}

TEST(RecordsWatch, WindowsThatBeginAfterAll) {
  RecordsWatch watch;
  SayWindow(&watch, 10, 0);
  SayState(&watch, RECORDS_FROM_START);
  SayWindow(&watch, 10, 20);
  SayState(&watch, RECORDS_ENDED);
  SayState(&watch, RECORDS_IN_WINDOWS);
  EXPECT_EQ(watch.now(), RecordsNow::kInWindows);
  SayWindow(&watch, 30, 40);
  EXPECT_EQ(watch.now(), RecordsNow::kInWindows) << "others follow";
}

TEST(RecordsWatch, WhatIsNotValidIsPassedOver) {
  RecordsWatch watch;
  SayState(&watch, RECORDS_FROM_START);
  watch.Consume(FRAME_AGENT_STATUS, "\xff\xff");
  watch.Consume(FRAME_TRACE_WINDOW, "\xff\xff");
  watch.Consume(FRAME_LAUNCHES, "");
  EXPECT_EQ(watch.now(), RecordsNow::kThroughout);
}

}  // namespace
}  // namespace utlz
