#include "collector/sampler/sharing/competing_profilers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/nanoseconds.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

constexpr char kBus[] = "0000:3b:00.0";
constexpr char kOtherBus[] = "0000:5e:00.0";
constexpr char kStranger[] = "4242";

class CompetingProfilersTest : public testing::Test {
 protected:
  std::string Folder(int pid) { return folder_.path() + "/proc/" + std::to_string(pid); }

  void Run(int pid, const std::string& name, const std::string& arguments = "x") {
    RunAs(std::to_string(geteuid()), pid, name, arguments);
  }

  // `users`: the process's four user numbers, or one for all of them.
  void RunAs(std::string users, int pid, const std::string& name,
             const std::string& arguments = "x") {
    std::filesystem::create_directories(Folder(pid));
    std::ofstream(Folder(pid) + "/comm") << name << "\n";
    std::ofstream(Folder(pid) + "/cmdline") << arguments;
    if (users.find(' ') == std::string::npos) {
      users = users + "\t" + users + "\t" + users + "\t" + users;
    }
    std::ofstream(Folder(pid) + "/status")
        << "Name:\t" << name << "\nUid:\t" << users << "\nCapEff:\t0000000000000000\n";
    std::ofstream(Folder(pid) + "/maps") << "7f00-7f01 r-xp 0 0:0 0 /usr/lib/libc.so.6\n";
  }

  // A GPU of this machine: the number of its device file.
  void HaveGpu(const std::string& bus, int number) {
    folder_.Write("proc/driver/nvidia/gpus/" + bus + "/information",
                  "Model: \t\t NVIDIA H200\nDevice Minor: \t " + std::to_string(number) + "\n");
  }
  void OpenGpu(int pid, int number) {
    std::filesystem::create_directories(Folder(pid) + "/fd");
    std::filesystem::create_symlink("/dev/nvidia" + std::to_string(number),
                                    Folder(pid) + "/fd/" + std::to_string(10 + number));
  }
  void CountersAreOpen() {
    folder_.Write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  }
  void HaveChild(int pid, int child) {
    folder_.Write("proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children",
                  std::to_string(child) + " ");
  }

  void End(int pid) { std::filesystem::remove_all(Folder(pid)); }

  void LoadModule(int pid) {
    std::ofstream(Folder(pid) + "/maps")
        << "7f00-7f01 r-xp 0 0:0 0 /usr/lib/libdcgmmoduleprofiling.so.4\n";
  }

  std::optional<std::string> Look(bool has_gpm = true) {
    now_ns_ += 10 * kSecondNs;
    rivals_.Look(now_ns_);
    return rivals_.Present(now_ns_, has_gpm, kBus);
  }

  TemporaryFolder folder_;
  CompetingProfilers rivals_{folder_.path()};
  uint64_t now_ns_ = 1000 * kSecondNs;
};

TEST_F(CompetingProfilersTest, NsightComputeIsNoticedAndItsEnd) {
  Run(1, "init");
  EXPECT_EQ(Look(), std::nullopt);
  Run(77, "ncu");
  EXPECT_EQ(Look(), "ncu, process 77");
  EXPECT_EQ(Look(), "ncu, process 77");
  End(77);
  EXPECT_EQ(Look(), "ncu, process 77") << "it may come again at once";
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(CompetingProfilersTest, OneThatRunsAlreadyIsNoticed) {
  Run(77, "nv-nsight-cu-cl");
  EXPECT_TRUE(Look().has_value());
}

TEST_F(CompetingProfilersTest, AProcessMayTakeTheNameAfterTheFirstLook) {
  Run(77, "bash");
  EXPECT_EQ(Look(), std::nullopt);
  Run(77, "ncu");
  EXPECT_TRUE(Look().has_value());
}

TEST_F(CompetingProfilersTest, AZombieWantsNothing) {
  Run(77, "ncu");
  EXPECT_TRUE(Look().has_value());
  Run(77, "ncu", "");
  Look();
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(CompetingProfilersTest, NsightSystemsOnlyWhereItSamplesGpuMetrics) {
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

TEST_F(CompetingProfilersTest, DcgmsProfilingModuleWhenItIsLoaded) {
  Run(5, "nv-hostengine");
  EXPECT_EQ(Look(false), std::nullopt);
  LoadModule(5);
  EXPECT_EQ(Look(false), "nv-hostengine, process 5");
  EXPECT_EQ(rivals_.Present(now_ns_, true, kBus), std::nullopt) << "GPM needs no counters";
  EXPECT_EQ(rivals_.Present(now_ns_ + CompetingProfilers::kModuleNs, false, kBus), std::nullopt)
      << "by then the hardware says whether it has them";
}

TEST_F(CompetingProfilersTest, AModuleThatWasThereBeforeIsTheHardwaresToSay) {
  Run(5, "dcgm-exporter");
  LoadModule(5);
  EXPECT_EQ(Look(false), std::nullopt);
}

TEST_F(CompetingProfilersTest, LooksNowAndThen) {
  rivals_.Look(now_ns_);
  Run(77, "ncu");
  rivals_.Look(now_ns_ + kSecondNs / 10);
  EXPECT_EQ(rivals_.Present(now_ns_ + kSecondNs / 10, true, kBus), std::nullopt);
  EXPECT_GE(rivals_.next_look_ns(), now_ns_ + kSecondNs / 2);
  rivals_.Look(rivals_.next_look_ns());
  EXPECT_TRUE(rivals_.Present(now_ns_ + kSecondNs, true, kBus).has_value());
}

TEST_F(CompetingProfilersTest, LooksFromTheFirstMomentOnWheneverThatIs) {
  Run(77, "ncu");
  rivals_.Look(0);
  EXPECT_TRUE(rivals_.Present(0, true, kBus).has_value());
}

TEST_F(CompetingProfilersTest, WhoTakesTheNameLateIsNotLookedFor) {
  Run(77, "bash");
  Look();
  Look();
  Run(77, "ncu");
  EXPECT_EQ(Look(), std::nullopt) << "its name was read twice: each look costs";
}

TEST_F(CompetingProfilersTest, OneThatBecomesAnotherProgramWantsThemNoLonger) {
  Run(77, "ncu");
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Look().has_value());
  Run(77, "bash");
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(CompetingProfilersTest, OnlyWhoWantedThemIsMissed) {
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

TEST_F(CompetingProfilersTest, DcgmsOwnExporterCountsToo) {
  Run(5, "dcgm-exporter");
  EXPECT_EQ(Look(false), std::nullopt);
  EXPECT_EQ(Look(false), std::nullopt) << "it has no module loaded";
  LoadModule(5);
  EXPECT_EQ(Look(false), "dcgm-exporter, process 5");
}

TEST_F(CompetingProfilersTest, AModuleIsAskedForOnceAndNotForEver) {
  Run(5, "nv-hostengine");
  Look(false);
  LoadModule(5);
  EXPECT_TRUE(Look(false).has_value());
  const uint64_t loaded_ns = now_ns_;
  while (now_ns_ < loaded_ns + CompetingProfilers::kModuleNs) Look(false);
  EXPECT_EQ(Look(false), std::nullopt) << "it is still loaded, and the hardware's to say";
}

TEST_F(CompetingProfilersTest, OptionsThatOnlyBeginLikeOursAreNotOurs) {
  Run(1, "nsys", "--gpu-metrics-device");  // its value is missing
  Run(2, "python", std::string("--gpu-metrics-device\0all", 25));
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(CompetingProfilersTest, FoldersThatAreNoProcessesAreNone) {
  std::filesystem::create_directories(folder_.path() + "/proc/0x4d");
  std::filesystem::create_directories(folder_.path() + "/proc/self");
  std::ofstream(folder_.path() + "/proc/self/comm") << "ncu\n";
  std::ofstream(folder_.path() + "/proc/self/cmdline") << "x";
  std::filesystem::create_directories(Folder(0));
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(CompetingProfilersTest, NoProcIsNobody) {
  CompetingProfilers nowhere("/nonexistent");
  nowhere.Look(now_ns_);
  EXPECT_EQ(nowhere.Present(now_ns_, false, kBus), std::nullopt);
}

TEST_F(CompetingProfilersTest, AStrangersNameIsNotTrusted) {
  HaveGpu(kBus, 3);
  CountersAreOpen();
  RunAs(kStranger, 77, "ncu", "60");
  EXPECT_EQ(Look(), std::nullopt) << "anybody may call a program so";
  RunAs(kStranger, 5, "nv-hostengine");
  Look(false);
  LoadModule(5);
  EXPECT_EQ(Look(false), std::nullopt);
}

TEST_F(CompetingProfilersTest, AProgramWithTheSetUserIdBitIsAStrangers) {
  HaveGpu(kBus, 3);
  CountersAreOpen();
  RunAs("4242 0 0 0", 77, "ncu", "60");  // a link named ncu to /usr/bin/passwd
  EXPECT_EQ(Look(), std::nullopt);
  RunAs("0 0 0 0", 78, "ncu", "60");
  EXPECT_EQ(Look(), "ncu, process 78");
}

TEST_F(CompetingProfilersTest, AStrangerThatHasTheGpuOpenIsTrustedWhereItMayCount) {
  HaveGpu(kBus, 3);
  RunAs(kStranger, 77, "ncu", "60");
  OpenGpu(77, 3);
  EXPECT_EQ(Look(), std::nullopt) << "the driver would not let it count";
  CountersAreOpen();
  EXPECT_EQ(Look(), "ncu, process 77");
}

TEST_F(CompetingProfilersTest, WhatItsChildHasOpenCountsToo) {
  HaveGpu(kBus, 3);
  CountersAreOpen();
  RunAs(kStranger, 77, "ncu", "./a.out");
  RunAs(kStranger, 78, "a.out");
  HaveChild(77, 78);
  EXPECT_EQ(Look(), std::nullopt);
  OpenGpu(78, 3);
  EXPECT_EQ(Look(), "ncu, process 77");
}

TEST_F(CompetingProfilersTest, OneOnAnotherGpuLeavesUsOurs) {
  HaveGpu(kBus, 3);
  HaveGpu(kOtherBus, 0);
  Run(77, "ncu");
  OpenGpu(77, 0);
  EXPECT_EQ(Look(), std::nullopt);
  EXPECT_EQ(rivals_.Present(now_ns_, true, kOtherBus), "ncu, process 77");
  End(77);
  EXPECT_EQ(Look(), std::nullopt) << "nor after its end";
  EXPECT_EQ(rivals_.Present(now_ns_, true, kOtherBus), "ncu, process 77");
}

TEST_F(CompetingProfilersTest, OneOfOursThatHasNoGpuOpenYetMayWantAny) {
  HaveGpu(kBus, 3);
  HaveGpu(kOtherBus, 0);
  Run(77, "ncu");
  EXPECT_EQ(Look(), "ncu, process 77");
  EXPECT_EQ(rivals_.Present(now_ns_, true, kOtherBus), "ncu, process 77");
}

}  // namespace
}  // namespace utlz
