#include "tools/top/screen/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/top/example_snapshot.h"

namespace utlz::top {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<pid_t> Pids(const Snapshot& snapshot, const View& view) {
  std::vector<pid_t> pids;
  for (const ProcessRow& row : ProcessRows(snapshot, view)) pids.push_back(row.process->pid);
  return pids;
}

TEST(Rows, AreInTheirOrder) {
  const Snapshot snapshot = ExampleSnapshot();
  EXPECT_THAT(Pids(snapshot, {}), ElementsAre(1234, 77, 1300));
  EXPECT_THAT(Pids(snapshot, {.sort = SortKey::kPid}), ElementsAre(77, 1234, 1300));
  EXPECT_THAT(Pids(snapshot, {.sort = SortKey::kPid, .reversed = true}),
              ElementsAre(1300, 1234, 77));
  EXPECT_THAT(Pids(snapshot, {.sort = SortKey::kUser}), ElementsAre(1234, 1300, 77));
  EXPECT_THAT(Pids(snapshot, {.sort = SortKey::kGpuMemory}), ElementsAre(1234, 1300, 77));
  EXPECT_THAT(Pids(snapshot, {.sort = SortKey::kHfu}), ElementsAre(1234, 77, 1300));
}

TEST(Rows, FiltersByCommandUserAndNumber) {
  const Snapshot snapshot = ExampleSnapshot();
  EXPECT_THAT(Pids(snapshot, {.filter = "GPT_train"}), ElementsAre(1234));
  EXPECT_THAT(Pids(snapshot, {.filter = "root"}), ElementsAre(77));
  EXPECT_THAT(Pids(snapshot, {.filter = "1300"}), ElementsAre(1300));
  EXPECT_THAT(Pids(snapshot, {.user = 1000, .only_own = true}), ElementsAre(1234, 1300));
}

TEST(Rows, AProcessOnTwoGpusIsOneRow) {
  Snapshot snapshot = ExampleSnapshot(2);
  snapshot.gpus[1].processes->push_back(snapshot.gpus[0].processes->at(0));
  const auto rows = ProcessRows(snapshot, {});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0].gpus, ElementsAre(0, 1));
  EXPECT_EQ(rows[0].memory_bytes, 122ull << 30);
  EXPECT_THAT(Pids(snapshot, {.hidden_gpus = {0}}), ElementsAre(1234));
}

TEST(Rows, ATreeHangsProcessesBelowTheirAncestors) {
  const Snapshot snapshot = ExampleSnapshot();
  const auto rows = ProcessRows(snapshot, {.reversed = true, .tree = true});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].process->pid, 1234);
  EXPECT_EQ(rows[1].children, 1u);
  EXPECT_EQ(rows[2].process->pid, 1300);
  EXPECT_EQ(rows[2].depth, 1);
  EXPECT_THAT(Pids(snapshot, {.tree = true, .folded = {1234}}), ElementsAre(1234, 77));
}

// Numbers that were given anew may make circles.
TEST(Rows, ATreeOfCirclesEnds) {
  Snapshot snapshot = ExampleSnapshot();
  snapshot.gpus[0].processes->at(0).ancestors = {1300};
  EXPECT_THAT(Pids(snapshot, {.tree = true}), ElementsAre(77));
}

TEST(Rows, LayersAndLinesAreThoseOfTheRun) {
  Snapshot snapshot = ExampleSnapshot();
  AddExampleOwners(&snapshot.runs[0]);
  const auto layers = WorkRows(FindRun(snapshot, 1234), WorkKind::kLayers);
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].name, "blocks.*.mlp.up (24)");
  EXPECT_EQ(layers[0].about, "Linear");
  EXPECT_EQ(layers[0].id, (WorkId{99, WorkKind::kLayers, 3}));
  EXPECT_EQ(WorkRows(FindRun(snapshot, 1234), WorkKind::kLines).size(), 2u);
  EXPECT_THAT(WorkRows(FindRun(snapshot, 77), WorkKind::kLayers), IsEmpty());
}

TEST(Rows, KernelsAreThoseOfTheProcess) {
  const Snapshot snapshot = ExampleSnapshot();
  EXPECT_EQ(WorkRows(FindRun(snapshot, 1234), WorkKind::kKernels).size(), 3u);
  EXPECT_THAT(WorkRows(FindRun(snapshot, 77), WorkKind::kKernels), IsEmpty());
}

}  // namespace
}  // namespace utlz::top
