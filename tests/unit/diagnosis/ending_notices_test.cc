#include "collector/diagnosis/ending_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/summarize/summary_builder.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EndingNoticesTest : public ::testing::Test {
 protected:
  EndingNoticesTest() { run_.StartRun(); }

  // A process of ten seconds, of which the last `lost_ns` were not handed over.
  void Send(uint32_t source, uint64_t lost_ns) {
    Process process;
    process.set_pid(100 + source);
    process.set_start_time_ns(kRunStartNs);
    run_.Send(source, FRAME_PROCESS, process);
    ProcessEnd end;
    end.set_time_ns(kRunStartNs + 10 * kSecondNs);
    end.set_how(lost_ns > 0 ? "vanished" : "exit");
    if (lost_ns > 0) end.set_lost_at_most_ns(lost_ns);
    run_.Send(source, FRAME_PROCESS_END, end);
  }

  std::vector<std::string> Notices() {
    const Summary summary = Summarize(run_.intake().Advance());
    return {summary.run().notices().begin(), summary.run().notices().end()};
  }

  RunBuilder run_;
};

TEST_F(EndingNoticesTest, WhatIsMissingOfAShortLifeIsSaid) {
  Send(1, 2 * kSecondNs);
  Send(2, 3 * kSecondNs);
  Send(3, 0);
  EXPECT_THAT(Notices(), ElementsAre(AllOf(HasSubstr("of 2 processes (101, 102) may be missing"),
                                           HasSubstr("up to 5.00 s of the 20.0 s that they lived"),
                                           HasSubstr("by spawn"))));
}

TEST_F(EndingNoticesTest, OfOneProcess) {
  Send(1, kSecondNs);
  EXPECT_THAT(Notices(), ElementsAre(AllOf(HasSubstr("of process 101 may be missing"),
                                           HasSubstr("that it lived"))));
}

TEST_F(EndingNoticesTest, ALittleOfALongRunIsNotWorthAWord) {
  Send(1, kSecondNs / 2);
  Send(2, 0);
  EXPECT_THAT(Notices(), IsEmpty());
}

}  // namespace
}  // namespace utlz
