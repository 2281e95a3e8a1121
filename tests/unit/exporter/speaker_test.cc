#include "tools/exporter/speaker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Speaker, SaysAllInOrderBeforeItEnds) {
  std::vector<std::string> said;
  {
    Speaker speaker([&said](const std::string& sentence) { said.push_back(sentence); });
    speaker.Report("one");
    speaker.Report("two");
  }
  EXPECT_THAT(said, ElementsAre("one", "two"));
}

TEST(Speaker, WhoTellsDoesNotWaitForWhoReads) {
  std::promise<void> read;
  const std::shared_future<void> reader = read.get_future().share();
  std::vector<std::string> said;
  {
    Speaker speaker([&](const std::string& sentence) {
      reader.wait();
      said.push_back(sentence);
    });
    for (int i = 0; i < 1000; ++i) speaker.Report("again");
    read.set_value();
  }
  EXPECT_THAT(said, SizeIs(testing::Le(Speaker::kMostWaiting + 1)));
}

}  // namespace
}  // namespace utlz
