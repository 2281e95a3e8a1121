// Windows of GPUs whose processes compute together, on one host and on several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "collector/session/window_planner.h"
#include "tests/support/nanoseconds.h"
#include "tests/unit/session/now.h"
#include "tests/unit/session/window_planning.h"

namespace utlz {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kAlone = "another job's";

// GPUs whose processes compute together.
class GroupWindowsTest : public ::testing::Test {
 protected:
  static constexpr size_t kGpus = 4;

  GroupWindowsTest() {
    for (size_t i = 0; i < kGpus; ++i) uuids_.push_back("rank " + std::to_string(i));
  }

  std::vector<DeviceWindow> Plan(uint64_t now_ns,
                                 const WindowPlanner::AgentsReady& ready = AnyTime) {
    return planner_.Plan(now_ns, {{uuids_}}, ready);
  }

  void AllReady(uint64_t now_ns, uint64_t lead_ns = 0) {
    for (const std::string& uuid : uuids_) {
      planner_.SamplerReady(uuid, now_ns, kSampling, lead_ns);
    }
  }

  // Of those that are sampled.
  static std::set<std::string> SampledIn(const std::vector<DeviceWindow>& windows) {
    std::set<std::string> uuids;
    for (const DeviceWindow& window : windows) {
      if (window.sampling_begin_ns != 0) uuids.insert(window.device_uuid);
    }
    return uuids;
  }

  static void ExpectOneTime(const std::vector<DeviceWindow>& windows) {
    for (const DeviceWindow& window : windows) {
      EXPECT_EQ(window.begin_ns, windows[0].begin_ns);
      EXPECT_EQ(window.end_ns, windows[0].end_ns);
    }
  }

  WindowPlanner planner_{kNow, 7};
  std::vector<std::string> uuids_;
};

TEST_F(GroupWindowsTest, AllHaveTheirWindowsAtOneTime) {
  uint64_t now_ns = kNow;
  for (int i = 0; i < 20; ++i) {
    AllReady(now_ns);
    const auto windows = Plan(now_ns);
    ASSERT_THAT(windows, SizeIs(kGpus)) << i;
    ExpectOneTime(windows);
    EXPECT_THAT(SampledIn(windows), SizeIs(kGpus));
    now_ns = windows[0].end_ns;
  }
}

TEST_F(GroupWindowsTest, TheWindowWaitsForTheLastToBeReady) {
  constexpr uint64_t kLate = kNow + 400 * kMillisecondNs;
  AllReady(kNow);
  planner_.SamplerReady(uuids_[2], kLate, kSampling);
  const auto sampler_waits = Plan(kNow);
  ASSERT_THAT(sampler_waits, SizeIs(kGpus));
  EXPECT_GE(sampler_waits[0].begin_ns, kLate);
  EXPECT_THAT(SampledIn(sampler_waits), SizeIs(kGpus));
  ExpectOneTime(sampler_waits);
  const uint64_t later_ns = sampler_waits[0].end_ns;
  AllReady(later_ns);
  const auto process_waits = Plan(later_ns, [&](const std::string& uuid) {
    return uuid == uuids_[3] ? later_ns + 2 * kSecondNs : 0;
  });
  ASSERT_THAT(process_waits, SizeIs(kGpus));
  EXPECT_GE(process_waits[0].begin_ns, later_ns + 2 * kSecondNs);
  ExpectOneTime(process_waits);
}

TEST_F(GroupWindowsTest, ASamplerThatIsStillReadingIsWaitedForButNotForever) {
  AllReady(kNow);
  const auto windows = Plan(kNow);
  ASSERT_THAT(windows, SizeIs(kGpus));
  const uint64_t end_ns = windows[0].end_ns;
  for (size_t i = 0; i + 1 < kGpus; ++i) planner_.SamplerReady(uuids_[i], end_ns, kSampling);
  EXPECT_THAT(Plan(end_ns + 100 * kMillisecondNs), IsEmpty()) << "one is being read";
  const auto next = Plan(end_ns + WindowPlanner::kPauseNs);
  ASSERT_THAT(next, SizeIs(kGpus)) << "all trace";
  EXPECT_THAT(SampledIn(next), SizeIs(kGpus - 1));
  for (size_t i = 0; i + 1 < kGpus; ++i)
    planner_.SamplerReady(uuids_[i], next[0].end_ns, kSampling);
  EXPECT_THAT(Plan(next[0].end_ns), SizeIs(kGpus)) << "it was not asked for";
}

TEST_F(GroupWindowsTest, OneWhoseSamplerIsReadyMuchLaterIsSampledInALaterWindow) {
  AllReady(kNow);
  const uint64_t late_ns = kNow + 2 * kSecondNs;
  planner_.SamplerReady(uuids_[1], late_ns, kSampling);
  const auto windows = Plan(kNow);
  EXPECT_LT(windows[0].begin_ns, kNow + kSecondNs);
  EXPECT_THAT(SampledIn(windows), SizeIs(kGpus - 1));
  EXPECT_FALSE(SampledIn(windows).contains(uuids_[1]));
  AllReady(late_ns);
  EXPECT_THAT(SampledIn(Plan(late_ns)), SizeIs(kGpus));
}

TEST_F(GroupWindowsTest, NoCounterIsSetWhileAnotherGroupIsSampled) {
  constexpr uint64_t kLead = 800 * kMillisecondNs;
  uint64_t now_ns = kNow;
  for (int i = 0; i < 20; ++i) {
    AllReady(now_ns, kLead);
    planner_.SamplerReady(kAlone, now_ns, kSampling);
    std::vector<DeviceWindow> windows = planner_.Plan(now_ns, {{uuids_}, {{kAlone}}}, AnyTime);
    ASSERT_THAT(windows, SizeIs(kGpus + 1));
    const DeviceWindow other = windows.back();
    windows.pop_back();
    ExpectOneTime(windows);
    EXPECT_GE(windows[0].begin_ns, now_ns + kLead);
    const uint64_t read_ns = windows[0].end_ns + kGpus * WindowPlanner::kReadingNs;
    EXPECT_TRUE(other.end_ns <= windows[0].begin_ns - kLead || other.begin_ns >= read_ns) << i;
    now_ns = std::max(read_ns, other.end_ns) + kSecondNs;
  }
}

TEST_F(GroupWindowsTest, NoticeIsNeededUnlessAllAreRecordedThroughout) {
  planner_.SampleAtOnce({uuids_[0], uuids_[1], uuids_[2]});
  AllReady(kNow);
  const auto some = Plan(kNow);
  EXPECT_GE(some[0].begin_ns, kNow + WindowPlanner::kNoticeNs);
  planner_ = WindowPlanner(kNow, 7);
  planner_.SampleAtOnce({uuids_.begin(), uuids_.end()});
  AllReady(kNow);
  const auto all = Plan(kNow);
  EXPECT_LT(all[0].begin_ns, kNow + WindowPlanner::kNoticeNs);
  ExpectOneTime(all);
}

TEST_F(GroupWindowsTest, WhereCountersAreKnownOfOneTheOthersAreSampled) {
  AllReady(kNow);
  planner_.SampleSeldom({uuids_[0]});
  const auto first = Plan(kNow);
  EXPECT_THAT(SampledIn(first), SizeIs(kGpus));
  AllReady(first[0].end_ns);
  const auto second = Plan(first[0].end_ns);
  ASSERT_THAT(second, SizeIs(kGpus));
  EXPECT_THAT(SampledIn(second), SizeIs(kGpus - 1));
  EXPECT_FALSE(SampledIn(second).contains(uuids_[0]));
}

TEST_F(GroupWindowsTest, GpusThatJoinAGroupHaveItsNextWindow) {
  AllReady(kNow);
  planner_.Plan(kNow, Apart(uuids_), AnyTime);
  const uint64_t later_ns = kNow + 3 * kSecondNs;
  AllReady(later_ns);
  const auto windows = Plan(later_ns);
  ASSERT_THAT(windows, SizeIs(kGpus));
  ExpectOneTime(windows);
  EXPECT_THAT(planner_.Plan(windows[0].end_ns, {DeviceGroup()}, AnyTime), IsEmpty());
}

// Planners of several hosts, whose ranks compute together.
class HostsTest : public ::testing::Test {
 protected:
  static constexpr int kHosts = 8;
  static constexpr uint64_t kRunNs = 200 * kSecondNs;
  // Of a window in CLOCK_REALTIME, within what clocks of hosts may differ.
  static constexpr uint64_t kToleranceNs = 10 * kMillisecondNs;

  struct Windows {
    std::set<uint64_t> all;  // of the job, by tolerances
    size_t most = 0;         // of one host
    size_t fewest = SIZE_MAX;
  };

  // A process of a host can pay for a window so long after the last one, and up to a third later.
  static Windows Plan(bool has_others, uint64_t shortest_pause_ns) {
    Windows windows;
    for (uint64_t host = 0; host < kHosts; ++host) {
      WindowPlanner planner(kNow, host + 1);
      const uint64_t booted_ns = kNow - host * 1234 * kSecondNs;
      planner.RealtimeIsAhead(uint64_t{kRunStartNs} - booted_ns + host * kMillisecondNs);
      uint64_t now_ns = booted_ns + kSecondNs * 4000;
      const uint64_t end_ns = now_ns + kRunNs;
      uint64_t random_state = host * 77 + 1;
      size_t count = 0;
      while (now_ns < end_ns) {
        random_state = random_state * 6364136223846793005 + 1442695040888963407;
        const uint64_t pause_ns = shortest_pause_ns + random_state % (shortest_pause_ns / 3);
        planner.SamplerReady(kAlone, now_ns, kSampling);
        const auto planned = planner.Plan(now_ns, {{{kAlone}, has_others}},
                                          [&](const std::string&) { return now_ns + pause_ns; });
        if (planned.size() != 1) return {};
        const uint64_t realtime_ns = planned[0].begin_ns + kRunStartNs - booted_ns;
        windows.all.insert((realtime_ns + kToleranceNs / 2) / (2 * kToleranceNs));
        EXPECT_GE(planned[0].begin_ns, now_ns + pause_ns);
        now_ns = planned[0].end_ns;
        ++count;
      }
      windows.most = std::max(windows.most, count);
      windows.fewest = std::min(windows.fewest, count);
    }
    return windows;
  }
};

TEST_F(HostsTest, TheirWindowsCoincide) {
  for (const uint64_t pause_ns : {300 * kMillisecondNs, 700 * kMillisecondNs, 2 * kSecondNs}) {
    const Windows apart = Plan(false, pause_ns);
    const Windows common = Plan(true, pause_ns);
    const std::string pause = "pause_of_" + std::to_string(pause_ns / kMillisecondNs) + "_ms_";
    RecordProperty(pause + "apart", static_cast<int>(apart.all.size()));
    RecordProperty(pause + "apart_of_a_host", static_cast<int>(apart.most));
    RecordProperty(pause + "common", static_cast<int>(common.all.size()));
    RecordProperty(pause + "common_of_a_host", static_cast<int>(common.most));
    EXPECT_GT(apart.all.size(), 3 * apart.most) << pause_ns;
    EXPECT_LT(common.all.size(), 1.6 * static_cast<double>(common.most)) << pause_ns;
    EXPECT_GT(common.fewest, apart.fewest / 2) << pause_ns;
  }
}

}  // namespace
}  // namespace utlz
