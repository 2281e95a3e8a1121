#include "inject/tracing/late_window.h"

#include <gtest/gtest.h>

namespace utlz::agent {
namespace {

constexpr PlannedWindow kPlanned{1'000'000'000, 1'030'000'000};
constexpr PlannedWindow kNext{1'200'000'000, 1'230'000'000};

TEST(LateWindow, EndsAsMuchLaterAsItBegan) {
  LateWindow late;
  late.SwitchedOn(kPlanned, kPlanned.begin_ns + 1'200'000);
  EXPECT_EQ(late.Instead(kPlanned, kPlanned.begin_ns + 2'000'000).end_ns,
            kPlanned.end_ns + 1'200'000);
  EXPECT_EQ(late.Instead(kNext, kPlanned.end_ns + 1'199'999).begin_ns, kPlanned.begin_ns);
  EXPECT_EQ(late.Instead(kNext, kPlanned.end_ns + 1'200'000).begin_ns, kNext.begin_ns);
}

TEST(LateWindow, OneThatWasTracedAheadOfEndsAsPlanned) {
  LateWindow late;
  late.SwitchedOn(kPlanned, kPlanned.begin_ns - 10'000'000);
  EXPECT_EQ(late.Instead(kPlanned, kPlanned.begin_ns).end_ns, kPlanned.end_ns);
}

TEST(LateWindow, WhatMissedMostOfItsWindowIsNotMadeUpFor) {
  LateWindow late;
  late.SwitchedOn(kPlanned, kPlanned.begin_ns + 20'000'000);
  EXPECT_EQ(late.Instead(kNext, kPlanned.end_ns).end_ns, kPlanned.end_ns + LateWindow::kMostNs);
  late.SwitchedOn(kPlanned, kPlanned.end_ns);
  EXPECT_EQ(late.Instead(kNext, kPlanned.end_ns).begin_ns, kNext.begin_ns);
  late.SwitchedOn({}, kPlanned.end_ns);
  EXPECT_EQ(late.Instead(kNext, kPlanned.end_ns).begin_ns, kNext.begin_ns);
}

TEST(LateWindow, WhatMayBeOverdrawnStays) {
  LateWindow late;
  late.SwitchedOn({10, 1000, 77}, 20);
  EXPECT_EQ(late.Instead({}, 30).overdraft_ns, 77u);
}

}  // namespace
}  // namespace utlz::agent
