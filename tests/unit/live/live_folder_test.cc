#include "collector/live/live_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

TEST(LiveFolder, NamesTellTheProcess) {
  EXPECT_EQ(CollectorOfLiveSocket(LiveSocketName(123)), 123);
  for (const char* name : {"live-.socket", "live-1.socket.new", "live-x.socket", "live--1.socket",
                           "live-1", "1.socket", "live-99999999999.socket", ""}) {
    EXPECT_FALSE(CollectorOfLiveSocket(name)) << name;
  }
}

TEST(LiveFolder, FindsSocketsByProcessAndNothingElse) {
  TemporaryFolder folder;
  for (const char* name : {"live-7.socket", "live-3.socket", "counters.lock"}) {
    std::ofstream(folder.File(name)) << "x";
  }
  const auto found = FindLiveSockets({folder.File("missing"), folder.File("")});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].collector, 3);
  EXPECT_EQ(found[1].collector, 7);
}

}  // namespace
}  // namespace utlz
