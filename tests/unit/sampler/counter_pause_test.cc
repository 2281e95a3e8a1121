#include "collector/sampler/sharing/counter_pause.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/support/nanoseconds.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

const std::string kUuid(16, 'A');

class CounterPauseTest : public ::testing::Test {
 protected:
  std::optional<CounterPause> Read(uint64_t now_ns) {
    return ReadPause(folder_.path(), kUuid, now_ns);
  }
  std::string NotePath() {
    return std::filesystem::directory_iterator(folder_.path())->path().string();
  }

  TemporaryFolder folder_;
};

TEST_F(CounterPauseTest, HoldsUntilItsTimeIsOver) {
  const CounterPause pause{.until_ns = 100 * kSecondNs, .by = "kim, process 3"};
  ASSERT_TRUE(WritePause(folder_.path(), kUuid, pause).ok());
  EXPECT_EQ(Read(1), pause);
  EXPECT_EQ(Read(100 * kSecondNs - 1), pause);
  EXPECT_FALSE(Read(100 * kSecondNs));
  EXPECT_FALSE(ReadPause(folder_.path(), std::string(16, 'B'), 1));
}

TEST_F(CounterPauseTest, ALaterOneTakesItsPlaceAndItCanBeEnded) {
  ASSERT_TRUE(WritePause(folder_.path(), kUuid, {.until_ns = 10 * kSecondNs}).ok());
  ASSERT_TRUE(WritePause(folder_.path(), kUuid, {.until_ns = 20 * kSecondNs}).ok());
  EXPECT_EQ(Read(1)->until_ns, 20 * kSecondNs);
  EXPECT_TRUE(EndPause(folder_.path(), kUuid).ok());
  EXPECT_FALSE(Read(1));
  EXPECT_EQ(EndPause(folder_.path(), kUuid).code(), absl::StatusCode::kNotFound);
}

TEST_F(CounterPauseTest, WhatIsNoNoteIsNone) {
  ASSERT_TRUE(WritePause(folder_.path(), kUuid, {.until_ns = kLongestPauseNs + 2}).ok());
  EXPECT_FALSE(Read(1));
  EXPECT_TRUE(Read(2));
  const std::string path = NotePath();
  const std::string name = std::filesystem::path(path).filename();
  for (const std::string text : {"", "utlz.pause/1", "utlz.pause/1 x y", "utlz.pause/2 9 kim",
                                 "utlz.pause/1 99999999999999999999999 kim"}) {
    folder_.Write(name, text);
    EXPECT_FALSE(Read(1)) << text;
  }
  std::filesystem::remove(path);
  folder_.Write("elsewhere", "utlz.pause/1 9 kim\n");
  std::filesystem::create_symlink(folder_.File("elsewhere"), path);
  EXPECT_FALSE(Read(1));
}

TEST_F(CounterPauseTest, WhoAskedIsPrintable) {
  ASSERT_TRUE(
      WritePause(folder_.path(), kUuid, {.until_ns = kSecondNs, .by = "a\x1b[31m\nb"}).ok());
  EXPECT_EQ(Read(1)->by, "a?[31m?b");
}

TEST_F(CounterPauseTest, AFolderThatOthersMayWriteToIsRefused) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  EXPECT_FALSE(WritePause(folder_.path(), kUuid, {.until_ns = kSecondNs}).ok());
}

TEST_F(CounterPauseTest, IsLookedForTwiceASecond) {
  PauseWatch watch(folder_.path());
  EXPECT_FALSE(watch.Of(kUuid, 1, 1));
  ASSERT_TRUE(WritePause(folder_.path(), kUuid, {.until_ns = kSecondNs}).ok());
  EXPECT_FALSE(watch.Of(kUuid, PauseWatch::kLookNs, 1));
  EXPECT_TRUE(watch.Of(kUuid, 1 + PauseWatch::kLookNs, 1));
}

}  // namespace
}  // namespace utlz
