// Whole screens, as they are kept in screens/. UTLZ_WRITE_SCREENS=1 writes them anew, to be looked
// at before they are committed.
#include "tools/top/screen/draw.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/scoped_variable.h"
#include "tests/unit/top/example_snapshot.h"
#include "tools/top/screen/keys.h"

namespace utlz::top {
namespace {

class DrawTest : public ::testing::Test {
 protected:
  DrawTest() : zone_("TZ", "UTC") { tzset(); }

  // A minute in which the load grew.
  static History Minute(const Snapshot& snapshot) {
    History history;
    for (int tick = 0; tick < 60; ++tick) {
      Snapshot then = snapshot;
      for (GpuSnapshot& gpu : then.gpus) {
        if (gpu.compute_percent) *gpu.compute_percent *= (tick + 1) / 60.0;
      }
      for (LiveSnapshot& run : then.runs) {
        if (tick % 10 == 9) run.mutable_processes(0)->set_step_seconds(0.04);
      }
      history.Add(then);
    }
    return history;
  }

  static void ExpectScreen(const std::string& name, const Snapshot& snapshot, View view) {
    const std::string drawn = Draw(snapshot, Minute(snapshot), &view).Text();
    const std::string path = std::string(UTLZ_SCREENS) + "/" + name + ".txt";
    if (getenv("UTLZ_WRITE_SCREENS") != nullptr) std::ofstream(path) << drawn;
    std::ifstream file(path);
    const std::string kept((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(drawn, kept) << name;
  }

  ScopedVariable zone_;
};

TEST_F(DrawTest, MainOf80Columns) { ExpectScreen("main_80x24", ExampleSnapshot(), {}); }

TEST_F(DrawTest, MainWithoutAgents) {
  ExpectScreen("main_without_agents", ExampleSnapshot(1, false), {});
}

TEST_F(DrawTest, MainOfALargeTerminal) {
  ExpectScreen("main_140x50", ExampleSnapshot(2), {.width = 140, .height = 50});
}

TEST_F(DrawTest, EightGpusFitInto24Rows) { ExpectScreen("eight_gpus", ExampleSnapshot(8), {}); }

TEST_F(DrawTest, MainInAscii) { ExpectScreen("main_ascii", ExampleSnapshot(), {.unicode = false}); }

TEST_F(DrawTest, WhatNvmlDoesNotSayIsADash) {
  Snapshot snapshot = {.time_ns = kNoonNs, .gpus = {GpuSnapshot{.index = 3}}};
  snapshot.gpus[0].source_reason = "no permission to read counters";
  ExpectScreen("unknown", snapshot, {});
}

TEST_F(DrawTest, OneProcess) {
  View view{.height = 30, .page = Page::kProcess};
  view.process = 1234;
  ExpectScreen("process", ExampleSnapshot(), view);
  view.process = 77;
  ExpectScreen("process_without_agent", ExampleSnapshot(), view);
  view.process = 5;
  ExpectScreen("process_gone", ExampleSnapshot(), view);
}

TEST_F(DrawTest, AProcessWithoutStepsOfItsOwn) {
  Snapshot snapshot = ExampleSnapshot();
  snapshot.runs[0].mutable_processes(0)->clear_step_seconds();
  snapshot.runs[0].set_collector_pid(0);  // a replay has none
  View view{.width = 120};
  const History history = Minute(snapshot);
  EXPECT_EQ(Draw(snapshot, history, &view).Text().find("30.5 ms"), std::string::npos);
  view = {.width = 120, .page = Page::kProcess};
  view.process = 1234;
  const std::string page = Draw(snapshot, history, &view).Text();
  EXPECT_NE(page.find("step of its run 30.5 ms"), std::string::npos) << page;
  EXPECT_NE(page.find("step not found"), std::string::npos) << page;
  EXPECT_EQ(page.find("collector"), std::string::npos) << page;
}

TEST_F(DrawTest, OneKernel) {
  View view{.page = Page::kWork};
  view.process = 1234;
  view.work = WorkId{99, WorkKind::kKernels, 8};
  ExpectScreen("kernel", ExampleSnapshot(), view);
}

Snapshot SnapshotWithOwners() {
  Snapshot snapshot = ExampleSnapshot();
  AddExampleOwners(&snapshot.runs[0]);
  return snapshot;
}

TEST_F(DrawTest, LayersAndLines) {
  ExpectScreen("layers", SnapshotWithOwners(), {.listed = WorkKind::kLayers});
  View view{.page = Page::kProcess, .listed = WorkKind::kLines};
  view.process = 1234;
  ExpectScreen("lines_of_process", SnapshotWithOwners(), view);
  view = {.page = Page::kWork, .listed = WorkKind::kLayers};
  view.process = 1234;
  view.work = WorkId{99, WorkKind::kLayers, 3};
  ExpectScreen("layer", SnapshotWithOwners(), view);
}

TEST_F(DrawTest, WhyThereAreNoLayers) {
  Snapshot snapshot = ExampleSnapshot();
  snapshot.runs[0].set_owners_reason(
      "no stacks: 'utlz run' and 'utlz attach' with --stacks auto show \x1b[31m layers and lines "
      "of "
      "Python");
  ExpectScreen("no_layers", snapshot, {.listed = WorkKind::kLayers});
}

TEST_F(DrawTest, Help) { ExpectScreen("help", ExampleSnapshot(), {.page = Page::kHelp}); }

TEST_F(DrawTest, TreeAndFilter) {
  View view{.tree = true, .filter = "python", .types_filter = true};
  ExpectScreen("tree", ExampleSnapshot(), view);
}

TEST_F(DrawTest, AnySizeCanBeDrawn) {
  const Snapshot snapshot = ExampleSnapshot(8);
  const History history = Minute(snapshot);
  for (const Page page : {Page::kMain, Page::kProcess, Page::kWork, Page::kHelp}) {
    for (int width = 0; width < 130; width += 7) {
      for (int height = 0; height < 60; height += 3) {
        View view{.width = width, .height = height, .page = page};
        view.process = 1234;
        view.work = WorkId{99, WorkKind::kKernels, 3};
        EXPECT_EQ(Draw(snapshot, history, &view).height(), height);
      }
    }
  }
}

// A collector of another user that root hears speaks of its processes, not of the GPU.
TEST_F(DrawTest, WhoIsNotAcceptedSaysNothingOfTheGpu) {
  Snapshot snapshot = ExampleSnapshot();
  View view;
  EXPECT_NE(Draw(snapshot, History(), &view).Text().find("ceiling"), std::string::npos);
  snapshot.runs[0].set_accepted(false);
  EXPECT_EQ(Draw(snapshot, History(), &view).Text().find("ceiling"), std::string::npos);
}

TEST_F(DrawTest, TheSelectedRowIsAlwaysSeen) {
  Snapshot snapshot = ExampleSnapshot(1, false);
  for (pid_t pid = 2000; pid < 2040; ++pid) {
    snapshot.gpus[0].processes->push_back(ExampleProcess(pid, "kim", "one of many"));
  }
  View view;
  const History history;
  for (int i = 0; i < 45; ++i) {
    HandleKey(kKeyDown, snapshot, &view);
    const std::string screen = Draw(snapshot, history, &view).Text();
    ASSERT_TRUE(view.process);
    EXPECT_NE(screen.find(std::to_string(*view.process)), std::string::npos) << screen;
  }
}

}  // namespace
}  // namespace utlz::top
