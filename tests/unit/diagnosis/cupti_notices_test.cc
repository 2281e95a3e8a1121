// What the report says of a libcupti that the user named.
#include "collector/diagnosis/cupti_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/summarize/summary_builder.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CuptiNoticesTest : public ::testing::Test {
 protected:
  CuptiNoticesTest() { run_.StartRun(); }

  void Send(uint32_t source, NamedCupti fate, const std::string& error = "",
            const std::string& other = "") {
    Process process;
    process.set_pid(source);
    process.set_host_pid(100 + source);
    process.set_cupti_path("/in/use/libcupti.so.12");
    process.set_named_cupti(static_cast<uint32_t>(fate));
    process.set_named_cupti_path("/named/libcupti.so.12");
    process.set_named_cupti_error(error);
    process.set_other_cupti_path(other);
    run_.Send(source, FRAME_PROCESS, process);
  }

  std::vector<std::string> Notices() {
    const Summary summary = Summarize(run_.intake().Advance());
    return {summary.run().notices().begin(), summary.run().notices().end()};
  }

  RunBuilder run_;
};

TEST_F(CuptiNoticesTest, NothingIsSaidWhereAllIsWell) {
  Send(1, NamedCupti::kNone);
  Send(2, NamedCupti::kUsed);
  EXPECT_THAT(Notices(), IsEmpty());
}

TEST_F(CuptiNoticesTest, ASecondCopyKeepsTheProgramsProfilerFromItsKernels) {
  Send(1, NamedCupti::kUsed, "", "/own/libcupti.so.13");
  Send(2, NamedCupti::kNone, "", "/own/libcupti.so.13");  // named at an earlier attachment
  Send(3, NamedCupti::kUsed);
  EXPECT_THAT(
      Notices(),
      ElementsAre(AllOf(HasSubstr("2 processes (101, 102)"), HasSubstr("torch.profiler"),
                        HasSubstr("/in/use/libcupti.so.12"), HasSubstr("/own/libcupti.so.13"))));
}

TEST_F(CuptiNoticesTest, AFileThatCannotBeUsedIsNamedWithItsReason) {
  Send(1, NamedCupti::kNotLoadable, "wrong ELF class: ELFCLASS32");
  Send(2, NamedCupti::kTooOld);
  EXPECT_THAT(Notices(), ElementsAre(AllOf(HasSubstr("process 101"), HasSubstr("/named/libcupti"),
                                           HasSubstr("(wrong ELF class: ELFCLASS32)")),
                                     AllOf(HasSubstr("process 102"), HasSubstr("/named/libcupti"),
                                           HasSubstr("older than CUPTI 12.6"))));
}

TEST_F(CuptiNoticesTest, EachFateHasASentenceOfItsOwn) {
  for (const NamedCupti fate : {NamedCupti::kNotLoadable, NamedCupti::kIncomplete,
                                NamedCupti::kTooOld, NamedCupti::kKept}) {
    EXPECT_THAT(DescribeNamedCupti(fate, "/a/file", ""),
                AllOf(HasSubstr("/a/file"), Not(HasSubstr("()"))));
  }
  // A hostile process may claim any number.
  EXPECT_EQ(DescribeNamedCupti(static_cast<NamedCupti>(77), "/a/file", ""), "");
}

}  // namespace
}  // namespace utlz
