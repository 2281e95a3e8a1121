#include "tools/attach_session/server_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace utlz {
namespace {

using ::testing::ElementsAre;

// 100 started 50 (its number wrapped round) and 101, which started 102; 200 and 201 are a job; 300
// is somebody else's.
const std::map<pid_t, ProcessKinship> kProcesses = {
    {1, {0, 1}},       {50, {100, 50}}, {100, {1, 100}}, {101, {100, 101}},
    {102, {101, 101}}, {200, {1, 200}}, {201, {1, 200}}, {300, {1, 300}}};

TEST(RelativesTest, HasDescendantsOfAnyDepthAndNumber) {
  EXPECT_THAT(Relatives(kProcesses, {100}, 9), ElementsAre(50, 100, 101, 102));
}

TEST(RelativesTest, HasTheProcessGroup) {
  EXPECT_THAT(Relatives(kProcesses, {201}, 9), ElementsAre(200, 201));
}

TEST(RelativesTest, LeavesOurOwnGroupAlone) {
  EXPECT_THAT(Relatives(kProcesses, {201}, 200), ElementsAre(201));
}

TEST(RelativesTest, KeepsWhatIsNotThere) {
  EXPECT_THAT(Relatives(kProcesses, {999, 300}, 9), ElementsAre(300, 999));
}

}  // namespace
}  // namespace utlz
