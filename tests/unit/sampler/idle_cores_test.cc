#include "collector/sampler/host/idle_cores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/nanoseconds.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

constexpr uint32_t kCore = 1'000'000;

class IdleCoresTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = folder_.path() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }

  // A second passes in which each of `cores` cores is idle for this share of it.
  void Pass(size_t cores, double idle_share) {
    idle_ticks_ += 100 * idle_share;
    std::string text = "cpu  1 2 3 4 5 6 7 8 9 0\n";
    for (size_t core = 0; core < cores; ++core) {
      text += "cpu" + std::to_string(core) + " 100 0 50 " +
              std::to_string(static_cast<int>(idle_ticks_)) + " 0 0 0 0 0 0\n";
    }
    Write("/proc/stat", text + "intr 12345 0 0\n");
  }

  uint32_t Look(size_t allowed, uint64_t own_cpu_ns = 0) {
    now_ns_ += kSecondNs;
    idle_.Look(now_ns_, own_cpu_ns, std::vector<bool>(allowed, true));
    return idle_.spare_ppm();
  }

  // Three seconds, so that two looks running agree.
  uint32_t After(size_t cores, double idle_share) {
    for (int i = 0; i < 2; ++i) {
      Pass(cores, idle_share);
      Look(cores);
    }
    Pass(cores, idle_share);
    return Look(cores);
  }

  // The group used so much in all, and was held up so often.
  void WriteVersion2(const std::string& limit, uint64_t used_us, uint64_t throttled) {
    Write("/proc/self/cgroup", "0::/pod/job\n");
    Write("/sys/fs/cgroup/pod/job/cpu.max", limit + "\n");
    Write("/sys/fs/cgroup/pod/job/cpu.stat", "usage_usec " + std::to_string(used_us) +
                                                 "\nuser_usec 1\nnr_periods 9\nnr_throttled " +
                                                 std::to_string(throttled) + "\n");
  }

  TemporaryFolder folder_;
  IdleCores idle_{folder_.path()};
  uint64_t now_ns_ = 100 * kSecondNs;
  double idle_ticks_ = 1000;
};

TEST_F(IdleCoresTest, OneCoreForEachEightThatAreIdle) {
  EXPECT_EQ(After(16, 1), 2 * kCore);
  EXPECT_EQ(After(16, 0.6), kCore) << "9.6 of them";
  EXPECT_EQ(After(16, 0.4), 0u);
}

TEST_F(IdleCoresTest, ASmallMachineHasNone) { EXPECT_EQ(After(4, 1), 0u); }

TEST_F(IdleCoresTest, OneLookIsNoLook) {
  Pass(64, 1);
  EXPECT_EQ(Look(64), 0u);
  Pass(64, 1);
  EXPECT_EQ(Look(64), 0u) << "the first two may have met a pause";
  Pass(64, 1);
  EXPECT_EQ(Look(64), 8 * kCore);
  Pass(64, 0.1);
  EXPECT_EQ(Look(64), 0u) << "and the first that finds none ends it";
}

TEST_F(IdleCoresTest, CoresThatThisProcessMayNotUseDoNotCount) {
  for (int i = 0; i < 3; ++i) {
    Pass(64, 1);
    Look(8);
  }
  EXPECT_EQ(idle_.spare_ppm(), kCore);
  Write("/proc/self/cgroup", "0::/pod\n");
  Write("/sys/fs/cgroup/pod/cpuset.cpus.effective", "0-3,8\n");
  for (int i = 0; i < 2; ++i) {
    Pass(64, 1);
    Look(64);
  }
  EXPECT_EQ(idle_.spare_ppm(), 0u);
}

TEST_F(IdleCoresTest, ItsOwnUseIsNobodysLoad) {
  uint64_t own_ns = 0;
  for (int i = 0; i < 3; ++i) {
    Pass(8, 0.87);  // some seven of eight
    own_ns += 2 * kSecondNs;
    Look(8, own_ns);
  }
  EXPECT_EQ(idle_.spare_ppm(), kCore);
}

TEST_F(IdleCoresTest, InAGroupWithAQuotaOnlyWhatItLeavesIsIdle) {
  uint64_t used_us = 0;
  const auto three_seconds = [&](double used_cores) {
    for (int i = 0; i < 3; ++i) {
      used_us += static_cast<uint64_t>(used_cores * 1e6);
      WriteVersion2("1200000 100000", used_us, 0);
      Pass(64, 1);
      Look(64);
    }
    return idle_.spare_ppm();
  };
  EXPECT_EQ(three_seconds(1), kCore) << "eleven of twelve cores";
  EXPECT_EQ(three_seconds(5), 0u) << "seven";
}

TEST_F(IdleCoresTest, NoQuotaIsNoLimit) {
  WriteVersion2("max 100000", 5, 0);
  EXPECT_EQ(After(16, 1), 2 * kCore);
}

TEST_F(IdleCoresTest, WhereAGroupIsThrottledThereIsNone) {
  WriteVersion2("6400000 100000", 0, 7);
  EXPECT_EQ(After(64, 1), 8 * kCore) << "it was, long ago";
  WriteVersion2("6400000 100000", 0, 8);
  Pass(64, 1);
  EXPECT_EQ(Look(64), 0u);
  for (uint64_t i = 0; i + 2 < IdleCores::kThrottledNs / kSecondNs; ++i) {
    Pass(64, 1);
    EXPECT_EQ(Look(64), 0u) << i;
  }
  EXPECT_EQ(After(64, 1), 8 * kCore);
}

TEST_F(IdleCoresTest, TheGroupsOfVersionOneLimitToo) {
  Write("/proc/self/cgroup", "4:cpu,cpuacct:/docker/123\n3:cpuset:/docker/123\n");
  // In a container the group of the host is not there: it is what is mounted.
  Write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
  Write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  Write("/sys/fs/cgroup/cpu/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_time 0\n");
  Write("/sys/fs/cgroup/cpuacct/cpuacct.usage", "1000\n");
  EXPECT_EQ(After(64, 1), 0u) << "four cores";
  Write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(After(64, 1), 8 * kCore);
  Write("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-7\n");
  EXPECT_EQ(After(64, 1), kCore);
}

TEST_F(IdleCoresTest, WhoCannotTellWhatAQuotaHasLeftLeavesAllOfIt) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/cpu.max", "6400000 100000\n");
  EXPECT_EQ(After(64, 1), 0u);
}

TEST_F(IdleCoresTest, FilesThatAreNotThereOrHoldGarbageGiveNothing) {
  EXPECT_EQ(Look(64), 0u);
  Write("/proc/stat", "cpu\ncpu0\ncpux 1 2 3\ncpu1 a b c d e\n\n");
  Write("/proc/self/cgroup", "::\n0:\n1:cpu:/../../..\n0::../..\n");
  Write("/sys/fs/cgroup/cpu.max", "max\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Look(64), 0u);
}

TEST(ParseCpuListTest, TakesRangesAndSingleNumbers) {
  EXPECT_EQ(ParseCpuList("0-1,3"), std::vector<bool>({true, true, false, true}));
  EXPECT_TRUE(ParseCpuList("").empty());
  EXPECT_TRUE(ParseCpuList("x-3,-,").empty());
  EXPECT_LE(ParseCpuList("0-99999999999").size(), 4096u);
}

TEST(CpusOfThisProcessTest, SomeAreAllowed) {
  const std::vector<bool> cpus = CpusOfThisProcess();
  EXPECT_NE(std::count(cpus.begin(), cpus.end(), true), 0);
}

}  // namespace
}  // namespace utlz
