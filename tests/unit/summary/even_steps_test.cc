// What ran between windows of a program whose steps launch the same every time.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/made_up_loads.h"
#include "tests/support/made_up_stacks.h"
#include "tests/unit/summary/owner_rows.h"

namespace utlz {
namespace {

constexpr uint64_t kInStep = 40;       // launches, one a millisecond
constexpr uint64_t kFirstSteps = 10;   // recorded whole
constexpr uint64_t kLaterSteps = 190;  // met by windows
constexpr uint64_t kSteps = kFirstSteps + kLaterSteps;
constexpr uint64_t kFromWindowToWindow = 100;  // launches: windows begin at two places of a step
constexpr uint64_t kInWindow = 39;             // launches: a window leaves out one
// Launched twice by one layer in the first half of a step, and twice by another one at its end.
constexpr uint32_t kShared = 0;

struct Oddities {
  uint64_t evaluations = 0;         // one of so many later steps launches another kernel throughout
  uint64_t longer_first_steps = 0;  // these launch more than others
  uint64_t seldom = 0;              // one of so many later steps launches another one at one place
  uint64_t ranks = 1;               // processes on the device; later ones launch once
};

class EvenProgram {
 public:
  explicit EvenProgram(const Oddities& oddities = {}) : oddities_(oddities) {
    run_.StartRun();
    run_.StartProcess();
    std::vector<std::string> names = KernelNames(kInStep);
    names.push_back("evaluation");
    names.push_back("warm-up");
    run_.SendKernels(names);
    const uint32_t model =
        stacks_.Module(stacks_.Function(0, "main", "/home/me/train.py", 9), "", "Model");
    const uint32_t layers[2] = {stacks_.Module(model, "first", "Linear"),
                                stacks_.Module(model, "second", "Linear")};
    for (const bool inferred : {false, true}) {
      for (int i = 0; i < 2; ++i) {
        passes_[inferred][i] = stacks_.Pass(layers[i], STACK_FRAME_BACKWARD, inferred);
      }
    }
    stacks_.SendTo(&run_);
    for (uint32_t source = 2; source <= oddities_.ranks; ++source) {
      run_.StartProcess(source);
      run_.SendKernels({"kernel_0"}, source);
      run_.SendLaunches({RunBuilder::LaunchAt(now_ns_, 1000, 0)}, source);
    }
    Record(kFirstSteps);
    Later();
  }

  Summary End() { return run_.EndRun(now_ns_); }

 private:
  static constexpr uint64_t kSpacingNs = kMillisecond;

  uint32_t KernelAt(uint64_t step, uint64_t place) const {
    const bool later = step >= kFirstSteps;
    if (later && oddities_.evaluations != 0 && step % oddities_.evaluations == 0) return kInStep;
    if (later && oddities_.seldom != 0 && step % oddities_.seldom == 2 && place == 10) {
      return kInStep;
    }
    return place < 2 || place >= kInStep - 2 ? kShared : static_cast<uint32_t>(place);
  }

  void Tell() { run_.SendOperationCounts(recorded_, in_gaps_); }

  template <typename Launches>
  void Window(const Launches& launch_all) {
    TraceWindow window;
    window.set_start_ns(kRunStartNs + now_ns_);
    window.set_flags(1);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    Tell();
    std::vector<Launch> launches;
    launch_all([&](uint32_t kernel, uint64_t place) {
      Launch launch = RunBuilder::LaunchAt(now_ns_, kSpacingNs / 2, kernel);
      // Short windows do not see the forward pass.
      const bool inferred = in_gaps_ > 0;
      launch.stack = passes_[inferred][place < kInStep / 2 ? 0 : 1];
      launches.push_back(launch);
      now_ns_ += kSpacingNs;
    });
    run_.SendLaunches(launches);
    recorded_ += launches.size();
    window.set_end_ns(kRunStartNs + now_ns_);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    Tell();
  }

  void Record(uint64_t steps) {
    Window([&](const auto& launch) {
      for (uint64_t step = 0; step < steps; ++step) {
        for (uint64_t i = 0; step < oddities_.longer_first_steps && i < kInStep / 2; ++i) {
          launch(kInStep + 1, 0);
        }
        for (uint64_t place = 0; place < kInStep; ++place) launch(KernelAt(step, place), place);
      }
    });
  }

  void Later() {
    constexpr uint64_t kLaunches = kLaterSteps * kInStep;
    uint64_t next = 0;
    const auto pass = [&](uint64_t until) {
      in_gaps_ += until - next;
      now_ns_ += (until - next) * kSpacingNs;
      next = until;
    };
    for (uint64_t at = kInStep + kInStep / 2; at + kInWindow <= kLaunches;
         at += kFromWindowToWindow) {
      pass(at);
      Window([&](const auto& launch) {
        for (; next < at + kInWindow; ++next) {
          launch(KernelAt(kFirstSteps + next / kInStep, next % kInStep), next % kInStep);
        }
      });
    }
    pass(kLaunches);
    Tell();
    Window([](const auto&) {});  // as the agent ends
  }

  Oddities oddities_;
  RunBuilder run_;
  MadeUpStacks stacks_{kInStep + 3};  // after the names of the kernels
  uint32_t passes_[2][2] = {};        // of the two layers: seen, inferred
  uint64_t now_ns_ = 0;
  uint64_t recorded_ = 0;
  uint64_t in_gaps_ = 0;
};

std::map<std::string, double> LaunchesByKernel(const Summary& summary) {
  std::map<std::string, double> launches;
  for (const KernelSummary& kernel : summary.kernels()) {
    launches[kernel.name()] += static_cast<double>(kernel.launches());
  }
  return launches;
}

// Windows leave out the last kernel of the first half every second time.
TEST(EvenStepsTest, EveryKernelHasItsLaunchesOfAllSteps) {
  for (const auto& [name, launches] : LaunchesByKernel(EvenProgram().End())) {
    EXPECT_NEAR(launches, (name == "kernel_0" ? 4.0 : 1.0) * kSteps, 2) << name;
  }
}

TEST(EvenStepsTest, LayersShareAKernelAsInSteps) {
  const Summary summary = EvenProgram().End();
  for (const char* layer : {"first", "second"}) {
    const OwnerSummary* row = RowNamed(summary.owners().layers(), layer);
    ASSERT_NE(row, nullptr) << layer;
    EXPECT_NEAR(row->own_launches(), kInStep / 2.0 * kSteps, 2) << layer;
  }
}

TEST(EvenStepsTest, LongerFirstStepsAreNoPattern) {
  const auto launches = LaunchesByKernel(EvenProgram({.longer_first_steps = 2}).End());
  EXPECT_NEAR(launches.at("warm-up"), kInStep, 0.1) << "all of them were recorded";
  EXPECT_NEAR(launches.at("kernel_19"), kSteps, 1);
}

// As windows show it, then.
TEST(EvenStepsTest, OtherWorkBetweenWindowsIsAsWindowsShowIt) {
  const auto launches = LaunchesByKernel(EvenProgram({.evaluations = 9}).End());
  EXPECT_GT(launches.at("evaluation"), 0.5 * kInStep * kLaterSteps / 9);
  EXPECT_LT(launches.at("kernel_19"), 0.7 * kSteps);
}

// It was in no step that was recorded whole.
TEST(EvenStepsTest, AKernelThatFewStepsLaunchIsAsWindowsShowIt) {
  const auto launches = LaunchesByKernel(EvenProgram({.seldom = 10}).End());
  EXPECT_GT(launches.at("evaluation"), kLaterSteps / 10.0 + 5) << "of the gaps too";
  EXPECT_NEAR(launches.at("kernel_19"), kSteps, 2);
}

TEST(EvenStepsTest, SeveralProcessesOnADeviceAreAsWindowsShowThem) {
  EXPECT_LT(LaunchesByKernel(EvenProgram({.ranks = 2}).End()).at("kernel_19"), 0.7 * kSteps);
}

}  // namespace
}  // namespace utlz
