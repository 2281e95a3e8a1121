#include "tools/top/screen/keys.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/top/example_snapshot.h"

namespace utlz::top {
namespace {

class KeysTest : public ::testing::Test {
 protected:
  void Type(const std::string& keys) {
    for (const char key : keys) Press(key);
  }
  void Press(int key) { EXPECT_TRUE(HandleKey(key, snapshot_, &view_)) << key; }

  Snapshot snapshot_ = ExampleSnapshot(2);
  View view_;
};

TEST_F(KeysTest, QAndF10End) {
  EXPECT_FALSE(HandleKey('q', snapshot_, &view_));
  EXPECT_FALSE(HandleKey(kKeyF10, snapshot_, &view_));
}

TEST_F(KeysTest, AFilterIsTyped) {
  Type("/qu");
  EXPECT_TRUE(view_.types_filter);
  EXPECT_EQ(view_.filter, "qu");
  Press(kKeyBackspace);
  EXPECT_EQ(view_.filter, "q");
  Press(kKeyEnter);
  EXPECT_FALSE(view_.types_filter);
  EXPECT_EQ(view_.filter, "q");
  Press(kKeyEscape);
  EXPECT_EQ(view_.filter, "");
  Type("/x");
  Press(kKeyEscape);
  EXPECT_EQ(view_.filter, "");
  Type("/" + std::string(1000, 'x'));
  EXPECT_LT(view_.filter.size(), 100u);
}

TEST_F(KeysTest, ArrowsStayInTheTable) {
  Press(kKeyUp);
  EXPECT_EQ(view_.process, 1234);
  Press(kKeyDown);
  EXPECT_EQ(view_.process, 77);
  Press(kKeyEnd);
  Press(kKeyDown);
  EXPECT_EQ(view_.process, 1300);
  Press(kKeyHome);
  EXPECT_EQ(view_.process, 1234);
  snapshot_.gpus[0].processes->clear();
  Press(kKeyDown);
}

TEST_F(KeysTest, EnterOpensAProcessThenAKernelAndEscGoesBack) {
  Press(kKeyEnter);
  EXPECT_EQ(view_.page, Page::kProcess);
  Press(kKeyDown);
  Press(kKeyEnter);
  EXPECT_EQ(view_.page, Page::kWork);
  EXPECT_EQ(view_.work, (WorkId{99, WorkKind::kKernels, 8}));
  Press(kKeyDown);
  EXPECT_EQ(view_.work, (WorkId{99, WorkKind::kKernels, 5}));
  Press(kKeyEscape);
  EXPECT_EQ(view_.page, Page::kProcess);
  Press(kKeyEscape);
  EXPECT_EQ(view_.page, Page::kMain);
}

TEST_F(KeysTest, LListsKernelsLayersAndLines) {
  AddExampleOwners(&snapshot_.runs[0]);
  Press(kKeyTab);
  Press(kKeyDown);
  Type("l");
  EXPECT_EQ(view_.listed, WorkKind::kLayers);
  EXPECT_EQ(view_.work, std::nullopt) << "of the kernels";
  Press(kKeyDown);
  EXPECT_EQ(view_.work, (WorkId{99, WorkKind::kLayers, 8}));
  Press(kKeyEnter);
  EXPECT_EQ(view_.page, Page::kWork);
  Type("l");
  EXPECT_EQ(view_.listed, WorkKind::kLayers) << "one is open";
  Press(kKeyEscape);
  EXPECT_EQ(view_.page, Page::kMain);
  Type("l");
  EXPECT_EQ(view_.listed, WorkKind::kLines);
  Type("l");
  EXPECT_EQ(view_.listed, WorkKind::kKernels);
}

TEST_F(KeysTest, TabGoesToTheKernels) {
  Press(kKeyTab);
  Press(kKeyDown);
  Press(kKeyEnter);
  EXPECT_EQ(view_.page, Page::kWork);
  Press(kKeyEscape);
  EXPECT_EQ(view_.page, Page::kMain);
  Press(kKeyEscape);
  EXPECT_EQ(view_.focus, Focus::kProcesses);
  view_.process = 77;  // has no agent
  Press(kKeyTab);
  EXPECT_EQ(view_.focus, Focus::kProcesses);
}

TEST_F(KeysTest, SortKeysHaveLettersAndAnOrder) {
  Type("og");
  EXPECT_EQ(view_.sort, SortKey::kGpuMemory);
  Type("ox");
  EXPECT_EQ(view_.sort, SortKey::kGpuMemory);
  Type(">");
  EXPECT_EQ(view_.sort, SortKey::kStep);
  Type("<<");
  EXPECT_EQ(view_.sort, SortKey::kUser);
  Type("on<");
  EXPECT_EQ(view_.sort, SortKey::kAge);
  Type("r");
  EXPECT_TRUE(view_.reversed);
}

TEST_F(KeysTest, DigitsHideGpusThatThereAre) {
  Type("17");
  EXPECT_EQ(view_.hidden_gpus, std::set<unsigned>{1});
  Type("1");
  EXPECT_TRUE(view_.hidden_gpus.empty());
}

TEST_F(KeysTest, SpaceTagsAndGoesOn) {
  Type("  ");
  EXPECT_EQ(view_.tagged, (std::set<pid_t>{77, 1234}));
  Type("U");
  EXPECT_TRUE(view_.tagged.empty());
}

TEST_F(KeysTest, PlusAndMinusFoldTheTreeElseTheyZoom) {
  Type("-");
  EXPECT_EQ(view_.ticks_a_dot, 2u);
  Type("++");
  EXPECT_EQ(view_.ticks_a_dot, 1u);
  Type("t-");
  EXPECT_EQ(view_.folded, std::set<pid_t>{1234});
  Type("+");
  EXPECT_TRUE(view_.folded.empty());
}

TEST_F(KeysTest, HelpComesAndGoes) {
  Press(kKeyEnter);
  Press(kKeyF1);
  EXPECT_EQ(view_.page, Page::kHelp);
  Press(kKeyEscape);
  EXPECT_EQ(view_.page, Page::kProcess);
}

TEST_F(KeysTest, NoKeyIsTooMuchForAnEmptyMachine) {
  snapshot_ = Snapshot();
  for (int key = 1; key < 256; ++key) HandleKey(key, snapshot_, &view_);
  for (int key = kKeyUp; key <= kKeyResize; ++key) HandleKey(key, snapshot_, &view_);
}

}  // namespace
}  // namespace utlz::top
