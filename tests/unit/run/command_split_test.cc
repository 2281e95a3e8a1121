#include "tools/utlz/command_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CommandSplitTest : public ::testing::Test {
 protected:
  CommandSplitTest() {
    run_.add_option("-o,--output", output_);
    run_.add_flag("--nvtx", nvtx_);
  }
  CommandSplit Split(const std::vector<std::string>& words) const {
    std::vector<std::string> arguments = {"run"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return SplitCommand(run_, arguments);
  }

  CLI::App run_;
  std::string output_;
  bool nvtx_ = false;
};

TEST_F(CommandSplitTest, TheCommandBeginsAtTheFirstWordThatIsNotOurs) {
  const CommandSplit split = Split({"-o", "a", "--nvtx", "python", "-o", "b", "--", "c"});
  EXPECT_THAT(split.own, ElementsAre("run", "-o", "a", "--nvtx"));
  EXPECT_THAT(split.command, ElementsAre("python", "-o", "b", "--", "c"));
}

TEST_F(CommandSplitTest, ValuesMayBeJoinedToTheirOption) {
  EXPECT_THAT(Split({"--output=a", "x"}).command, ElementsAre("x"));
  EXPECT_THAT(Split({"-oa", "x"}).command, ElementsAre("x"));
}

TEST_F(CommandSplitTest, TwoDashesEndOurOptions) {
  const CommandSplit split = Split({"--nvtx", "--", "--nvtx", "--"});
  EXPECT_THAT(split.own, ElementsAre("run", "--nvtx"));
  EXPECT_THAT(split.command, ElementsAre("--nvtx", "--"));
}

TEST_F(CommandSplitTest, UnknownOptionsStayOursToBeRefused) {
  const CommandSplit split = Split({"--bogus", "x"});
  EXPECT_THAT(split.own, ElementsAre("run", "--bogus"));
  EXPECT_THAT(split.command, ElementsAre("x"));
}

TEST_F(CommandSplitTest, NothingAtAll) {
  EXPECT_THAT(Split({}).command, IsEmpty());
  EXPECT_THAT(Split({"-o"}).own, ElementsAre("run", "-o"));
}

}  // namespace
}  // namespace utlz
