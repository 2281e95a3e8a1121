#include "collector/sampling/rival_profilers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

class RivalProfilersTest : public testing::Test {
 protected:
  std::string Folder(int pid) { return folder_.path() + "/proc/" + std::to_string(pid); }

  void Run(int pid, const std::string& name, const std::string& arguments = "x") {
    std::filesystem::create_directories(Folder(pid));
    std::ofstream(Folder(pid) + "/comm") << name << "\n";
    std::ofstream(Folder(pid) + "/cmdline") << arguments;
    std::ofstream(Folder(pid) + "/maps") << "7f00-7f01 r-xp 0 0:0 0 /usr/lib/libc.so.6\n";
  }

  void End(int pid) { std::filesystem::remove_all(Folder(pid)); }

  void LoadModule(int pid) {
    std::ofstream(Folder(pid) + "/maps")
        << "7f00-7f01 r-xp 0 0:0 0 /usr/lib/libdcgmmoduleprofiling.so.4\n";
  }

  std::optional<std::string> Look(bool has_gpm = true) {
    now_ns_ += 10 * kSecond;
    rivals_.Look(now_ns_);
    return rivals_.Present(now_ns_, has_gpm);
  }

  TemporaryFolder folder_;
  RivalProfilers rivals_{folder_.path()};
  uint64_t now_ns_ = 1000 * kSecond;
};

TEST_F(RivalProfilersTest, NsightComputeIsNoticedAndItsEnd) {
  Run(1, "init");
  EXPECT_EQ(Look(), std::nullopt);
  Run(77, "ncu");
  EXPECT_EQ(Look(), "ncu, process 77");
  EXPECT_EQ(Look(), "ncu, process 77");
  End(77);
  EXPECT_EQ(Look(), "ncu, process 77") << "it may come again at once";
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(RivalProfilersTest, OneThatRunsAlreadyIsNoticed) {
  Run(77, "nv-nsight-cu-cl");
  EXPECT_TRUE(Look().has_value());
}

TEST_F(RivalProfilersTest, AProcessMayTakeTheNameAfterTheFirstLook) {
  Run(77, "bash");
  EXPECT_EQ(Look(), std::nullopt);
  Run(77, "ncu");
  EXPECT_TRUE(Look().has_value());
}

TEST_F(RivalProfilersTest, AZombieWantsNothing) {
  Run(77, "ncu");
  EXPECT_TRUE(Look().has_value());
  Run(77, "ncu", "");
  Look();
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(RivalProfilersTest, NsightSystemsOnlyWhereItSamplesGpuMetrics) {
  const auto arguments = [](std::initializer_list<const char*> list) {
    std::string text;
    for (const char* argument : list) text += std::string(argument) + '\0';
    return text;
  };
  Run(1, "nsys", arguments({"nsys", "profile", "./a.out"}));
  Run(2, "nsys", arguments({"nsys", "profile", "--gpu-metrics-devices=none", "./a.out"}));
  Run(3, "nsys", arguments({"nsys", "profile", "--gpu-metrics-device", "none"}));
  EXPECT_EQ(Look(), std::nullopt);
  Run(4, "nsys", arguments({"nsys", "profile", "--gpu-metrics-devices=all", "./a.out"}));
  EXPECT_EQ(Look(), "nsys, process 4");
  End(4);
  Run(5, "nsys", arguments({"nsys", "profile", "--gpu-metrics-device", "0"}));
  EXPECT_EQ(Look(), "nsys, process 5");
}

TEST_F(RivalProfilersTest, DcgmsProfilingModuleWhenItIsLoaded) {
  Run(5, "nv-hostengine");
  EXPECT_EQ(Look(false), std::nullopt);
  LoadModule(5);
  EXPECT_EQ(Look(false), "nv-hostengine, process 5");
  EXPECT_EQ(rivals_.Present(now_ns_, true), std::nullopt) << "GPM needs no counters";
  EXPECT_EQ(rivals_.Present(now_ns_ + RivalProfilers::kModuleNs, false), std::nullopt)
      << "by then the hardware says whether it has them";
}

TEST_F(RivalProfilersTest, AModuleThatWasThereBeforeIsTheHardwaresToSay) {
  Run(5, "dcgm-exporter");
  LoadModule(5);
  EXPECT_EQ(Look(false), std::nullopt);
}

TEST_F(RivalProfilersTest, LooksNowAndThen) {
  rivals_.Look(now_ns_);
  Run(77, "ncu");
  rivals_.Look(now_ns_ + kSecond / 10);
  EXPECT_EQ(rivals_.Present(now_ns_ + kSecond / 10, true), std::nullopt);
  EXPECT_GE(rivals_.next_look_ns(), now_ns_ + kSecond / 2);
  rivals_.Look(rivals_.next_look_ns());
  EXPECT_TRUE(rivals_.Present(now_ns_ + kSecond, true).has_value());
}

TEST_F(RivalProfilersTest, LooksFromTheFirstMomentOnWheneverThatIs) {
  Run(77, "ncu");
  rivals_.Look(0);
  EXPECT_TRUE(rivals_.Present(0, true).has_value());
}

TEST_F(RivalProfilersTest, WhoTakesTheNameLateIsNotLookedFor) {
  Run(77, "bash");
  Look();
  Look();
  Run(77, "ncu");
  EXPECT_EQ(Look(), std::nullopt) << "its name was read twice: each look costs";
}

TEST_F(RivalProfilersTest, OneThatBecomesAnotherProgramWantsThemNoLonger) {
  Run(77, "ncu");
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Look().has_value());
  Run(77, "bash");
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(RivalProfilersTest, OnlyWhoWantedThemIsMissed) {
  Run(1, "init");
  Run(900, "bash");
  Run(5, "nv-hostengine");
  Look(false);
  LoadModule(5);
  EXPECT_TRUE(Look(false).has_value());
  Run(77, "ncu");
  Look();
  for (const int pid : {1, 5, 77, 900}) End(pid);
  EXPECT_EQ(Look(), "ncu, process 77");
  EXPECT_EQ(Look(false), std::nullopt);
}

TEST_F(RivalProfilersTest, DcgmsOwnExporterCountsToo) {
  Run(5, "dcgm-exporter");
  EXPECT_EQ(Look(false), std::nullopt);
  EXPECT_EQ(Look(false), std::nullopt) << "it has no module loaded";
  LoadModule(5);
  EXPECT_EQ(Look(false), "dcgm-exporter, process 5");
}

TEST_F(RivalProfilersTest, AModuleIsAskedForOnceAndNotForEver) {
  Run(5, "nv-hostengine");
  Look(false);
  LoadModule(5);
  EXPECT_TRUE(Look(false).has_value());
  const uint64_t loaded_ns = now_ns_;
  while (now_ns_ < loaded_ns + RivalProfilers::kModuleNs) Look(false);
  EXPECT_EQ(Look(false), std::nullopt) << "it is still loaded, and the hardware's to say";
}

TEST_F(RivalProfilersTest, OptionsThatOnlyBeginLikeOursAreNotOurs) {
  Run(1, "nsys", "--gpu-metrics-device");  // its value is missing
  Run(2, "python", std::string("--gpu-metrics-device\0all", 25));
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(RivalProfilersTest, FoldersThatAreNoProcessesAreNone) {
  std::filesystem::create_directories(folder_.path() + "/proc/0x4d");
  std::filesystem::create_directories(folder_.path() + "/proc/self");
  std::ofstream(folder_.path() + "/proc/self/comm") << "ncu\n";
  std::ofstream(folder_.path() + "/proc/self/cmdline") << "x";
  std::filesystem::create_directories(Folder(0));
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(RivalProfilersTest, NoProcIsNobody) {
  RivalProfilers nowhere("/nonexistent");
  nowhere.Look(now_ns_);
  EXPECT_EQ(nowhere.Present(now_ns_, false), std::nullopt);
}

}  // namespace
}  // namespace utlz
