// Samplers of several collectors on one machine: their loops turn by turn in one process, over a
// CUPTI that serves one of them.
#include "collector/sampler/sampler_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collector/clocks.h"
#include "collector/sampler/sharing/sampler_socket.h"
#include "proto/sampler.pb.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/sampler/fake_cupti.h"
#include "tests/unit/sampler/sampler_ends.h"

namespace utlz {
namespace {

// A test that hangs has failed; far above what any takes.
constexpr uint64_t kTooLongNs = 60 * kSecondNs;

class SamplerLoopTest : public testing::Test {
 protected:
  struct Collector {
    UniqueFd socket;
    std::unique_ptr<SamplerLoop> loop;
    Heard heard;
    bool runs = true;
  };

  SamplerLoopTest() : devices_(1) {
    fake_.metrics = {{"dram__bytes_read.sum", 3200},
                     {"dram__bytes_write.sum", 320},
                     {"gpc__cycles_elapsed.max", 17'000},
                     {"TPC.TriageCompute.sm__cycles_active.sum", 2'000'000}};
    // No other test on this machine meets this GPU.
    uuid_ = std::to_string(getpid()) + "-" + std::to_string(MonotonicNs());
    uuid_.resize(16, '.');
    devices_[0].uuid = uuid_;
    devices_[0].multiprocessors = 132;
    devices_[0].compute_capability_major = 9;
    libraries_.cupti = &table_;
  }

  Collector* Start(bool planned = false, bool counters = true) {
    int sockets[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    SamplerOptions options;
    options.cpu_budget_ppm = 0;  // windows follow at once
    options.planned_windows = planned;
    auto collector = std::make_unique<Collector>();
    collector->socket.Reset(sockets[0]);
    collector->loop = std::make_unique<SamplerLoop>(
        options, devices_, counters ? libraries_ : no_libraries_, folder_.path(),
        std::make_unique<FrameChannel>(sockets[1]), folder_.path());
    return collectors_.emplace_back(std::move(collector)).get();
  }

  // Every sampler's turn, until that is so.
  void Until(const std::function<bool()>& reached) {
    const uint64_t deadline_ns = MonotonicNs() + kTooLongNs;
    while (!reached()) {
      ASSERT_LT(MonotonicNs(), deadline_ns) << "it never came to that";
      for (const auto& collector : collectors_) {
        if (collector->loop != nullptr && collector->runs)
          collector->runs = collector->loop->Turn(1);
        if (collector->socket.valid()) collector->heard.Read(collector->socket.get());
      }
    }
  }

  void UntilMoreSamples(Collector* collector) {
    const size_t before = collector->heard.batches.size();
    Until([&] { return collector->heard.batches.size() > before + 1; });
  }

  static const SamplerStatus& LastStatus(const Collector* collector) {
    static const SamplerStatus none;
    return collector->heard.statuses.empty() ? none : collector->heard.statuses.back();
  }

  // One that serves, one that shares.
  void StartTwo(bool planned = false) {
    first_ = Start(planned);
    Until([&] { return LastStatus(first_).counter_source() == SOURCE_SAMPLED; });
    second_ = Start(planned);
    Until([&] { return LastStatus(second_).counter_source() == SOURCE_SAMPLED; });
  }

  FakeCupti fake_;
  const CuptiTable table_ = fake_.table();
  std::vector<CudaDevice> devices_;
  SamplerLibraries libraries_;
  const SamplerLibraries no_libraries_;
  TemporaryFolder folder_;
  std::string uuid_;
  std::vector<std::unique_ptr<Collector>> collectors_;
  Collector* first_ = nullptr;
  Collector* second_ = nullptr;
};

TEST_F(SamplerLoopTest, ASecondCollectorSharesTheCountersOfTheFirst) {
  StartTwo();
  UntilMoreSamples(first_);
  UntilMoreSamples(second_);
  EXPECT_EQ(fake_.enables, 1);
  ASSERT_EQ(second_->heard.sets.size(), 1u);
  EXPECT_EQ(second_->heard.sets[0].id(), first_->heard.sets[0].id());
  EXPECT_EQ(second_->heard.batches[0].metric_set(), second_->heard.sets[0].id());
  EXPECT_EQ(second_->heard.peaks.back().chip(), "GH100");
  EXPECT_EQ(LastStatus(second_).collectors(), 2u);
  EXPECT_TRUE(LastStatus(second_).reason().empty()) << LastStatus(second_).reason();
}

// An NVML that says which limits the clock meets.
NvmlTable NvmlWithLimits(unsigned long long* limits) {
  static unsigned long long* said;
  said = limits;
  NvmlTable table;
  table.device_get_handle_by_uuid = [](const char*, nvml::DeviceHandle** handle) {
    *handle = nullptr;
    return 0;
  };
  table.device_get_clock_limits = [](nvml::DeviceHandle*, unsigned long long* reasons) {
    *reasons = *said;
    return 0;
  };
  return table;
}

TEST_F(SamplerLoopTest, CountersCostWhatNvmlSaysThatPowerLimits) {
  unsigned long long limits = nvml::kClocksApplicationSetting;
  const NvmlTable nvml = NvmlWithLimits(&limits);
  libraries_.nvml = &nvml;
  Collector* const collector = Start();
  const auto status = [&] { return LastStatus(collector); };
  Until([&] { return status().windows() > 1; });
  EXPECT_TRUE(status().has_set_counters_cost_ns());
  EXPECT_EQ(status().set_counters_cost_ns(), 0u);
  limits = nvml::kClocksSoftwarePowerCap;
  Until([&] { return status().set_counters_cost_ns() > 0; });
}

TEST_F(SamplerLoopTest, TheEndOfTheFirstTakesNothingFromTheSecond) {
  StartTwo();
  UntilMoreSamples(second_);
  Command(first_->socket.get(), kSamplerQuit, uuid_);
  Until([&] { return first_->heard.ended; });
  EXPECT_TRUE(first_->heard.detached);
  EXPECT_TRUE(first_->runs) << "it goes on for the second";
  UntilMoreSamples(second_);
  EXPECT_EQ(fake_.enables, 1);
  Command(second_->socket.get(), kSamplerQuit, uuid_);
  Until([&] { return !first_->runs && !second_->runs; });
  EXPECT_FALSE(second_->heard.detached);
  EXPECT_FALSE(fake_.enabled);
}

TEST_F(SamplerLoopTest, ACollectorThatVanishesTakesNothingFromTheSecond) {
  StartTwo();
  first_->socket.Reset();
  UntilMoreSamples(second_);
  EXPECT_EQ(fake_.enables, 1);
  second_->socket.Reset();
  Until([&] { return !first_->runs && !second_->runs; });
  EXPECT_FALSE(fake_.enabled);
}

TEST_F(SamplerLoopTest, TheEndOfTheSecondTakesNothingFromTheFirst) {
  StartTwo();
  UntilMoreSamples(second_);
  Command(second_->socket.get(), kSamplerQuit, uuid_);
  Until([&] { return !second_->runs; });
  UntilMoreSamples(first_);
  Command(first_->socket.get(), kSamplerQuit, uuid_);
  Until([&] { return !first_->runs; });
  EXPECT_FALSE(first_->heard.detached) << "nobody was left";
}

TEST_F(SamplerLoopTest, WhoSharedTakesTheCountersWhenTheirSamplerDies) {
  StartTwo();
  UntilMoreSamples(second_);
  Until([&] { return LastStatus(second_).samples() > 0; });
  const uint64_t samples = LastStatus(second_).samples();
  first_->loop.reset();
  UntilMoreSamples(second_);
  EXPECT_EQ(fake_.enables, 2);
  // One set, as before, and what was counted before stays counted.
  for (const MetricSet& set : second_->heard.sets) EXPECT_EQ(set.id(), second_->heard.sets[0].id());
  EXPECT_GE(LastStatus(second_).samples(), samples);
  EXPECT_EQ(LastStatus(second_).counter_source(), SOURCE_SAMPLED);
}

TEST_F(SamplerLoopTest, AYieldOfOneIsAYieldForAllAndIsSaid) {
  StartTwo();
  Command(second_->socket.get(), kSamplerYield, uuid_);
  Until([&] { return !LastStatus(first_).reason().empty(); });
  EXPECT_FALSE(fake_.enabled);
  EXPECT_NE(LastStatus(first_).reason().find("user ranges"), std::string::npos);
  EXPECT_TRUE(LastStatus(second_).reason().empty()) << LastStatus(second_).reason();
  Command(second_->socket.get(), kSamplerResume, uuid_);
  UntilMoreSamples(first_);
  UntilMoreSamples(second_);
  Until([&] { return LastStatus(first_).reason().empty(); });
  // One who leaves without a word gives back what it asked for.
  Command(second_->socket.get(), kSamplerYield, uuid_);
  Until([&] { return !fake_.enabled; });
  second_->socket.Reset();
  UntilMoreSamples(first_);
}

TEST_F(SamplerLoopTest, GivesWayToNsightComputeAndTakesTheCountersBack) {
  StartTwo();
  UntilMoreSamples(second_);
  const std::filesystem::path process = folder_.path() + "/proc/77";
  std::filesystem::create_directories(process);
  std::ofstream(process / "cmdline") << "ncu";
  std::ofstream(process / "comm") << "ncu\n";
  std::ofstream(process / "status") << "Uid:\t0\t0\t0\t0\n";
  Until([&] { return !fake_.enabled; });
  Until([&] {
    return LastStatus(first_).counter_source() == SOURCE_TIME_ONLY &&
           LastStatus(second_).counter_source() == SOURCE_TIME_ONLY;
  });
  for (const Collector* collector : {first_, second_}) {
    EXPECT_NE(LastStatus(collector).reason().find("(ncu, process 77)"), std::string::npos);
  }
  std::filesystem::remove_all(process);
  UntilMoreSamples(first_);
  UntilMoreSamples(second_);
  EXPECT_EQ(fake_.enables, 2);
  Until([&] { return LastStatus(second_).counter_source() == SOURCE_SAMPLED; });
  for (const Collector* collector : {first_, second_}) {
    EXPECT_EQ(LastStatus(collector).lent_to(), "ncu, process 77");
    EXPECT_GT(LastStatus(collector).lent_ns(), 0u);
  }
}

TEST_F(SamplerLoopTest, OneWithoutCountersAsksTheOthersForThem) {
  first_ = Start();
  UntilMoreSamples(first_);
  Collector* const ranges = Start(false, false);
  Command(ranges->socket.get(), kSamplerYield, uuid_);
  Until([&] { return !fake_.enabled; });
  Command(ranges->socket.get(), kSamplerResume, uuid_);
  UntilMoreSamples(first_);
  EXPECT_TRUE(ranges->heard.batches.empty());
}

TEST_F(SamplerLoopTest, TheLatestOfThoseWhoPlanIsWaitedForAndAllAreTold) {
  // Apart by more than any turn here takes, and never waited for.
  constexpr uint64_t kTolerance = kSecondNs;
  StartTwo(true);
  Until([&] { return !first_->heard.ready.empty() && !second_->heard.ready.empty(); });
  const uint64_t soon_ns = RealtimeNs() + 5 * kSecondNs;
  Command(first_->socket.get(), kSamplerWindowAt, uuid_, soon_ns);
  Until([&] { return !second_->heard.windows.empty(); });
  EXPECT_LT(second_->heard.windows[0].begin_ns(), soon_ns + kTolerance);
  EXPECT_GT(second_->heard.windows[0].window_ns(), 0u);
  EXPECT_TRUE(first_->heard.windows.empty()) << "it knows";
  const uint64_t later_ns = soon_ns + 3 * kSecondNs;
  Command(second_->socket.get(), kSamplerWindowAt, uuid_, later_ns);
  Until([&] { return !first_->heard.windows.empty(); });
  EXPECT_GT(first_->heard.windows[0].begin_ns(), later_ns - kTolerance);
  EXPECT_EQ(fake_.starts, 0);
}

TEST_F(SamplerLoopTest, AWindowThatOnePlannedServesAll) {
  StartTwo(true);
  size_t answered = 0;
  Until([&] {
    // One that could not begin in time is left out, and there is another.
    if (first_->heard.ready.size() > answered) {
      answered = first_->heard.ready.size();
      Command(first_->socket.get(), kSamplerWindowAt, uuid_, RealtimeNs() + kSecondNs / 10);
    }
    return !first_->heard.batches.empty() && !second_->heard.batches.empty();
  });
  EXPECT_FALSE(second_->heard.windows.empty());
}

// One sampler that serves two GPUs.
class TwoGpusTest : public SamplerLoopTest {
 protected:
  TwoGpusTest() {
    devices_.push_back(devices_[0]);
    devices_[1].ordinal = 1;
    devices_[1].uuid.back() = '!';
  }

  void StartOnBoth(bool planned) {
    first_ = Start(planned);
    for (const CudaDevice& device : devices_) {
      Command(first_->socket.get(), kSamplerUseDevice, device.uuid);
    }
  }

  size_t BatchesOf(const CudaDevice& device) const {
    std::set<uint32_t> ids;
    for (const MetricSet& set : first_->heard.sets) {
      if (set.device_uuid() == device.uuid) ids.insert(set.id());
    }
    return static_cast<size_t>(
        std::count_if(first_->heard.batches.begin(), first_->heard.batches.end(),
                      [&](const SampleBatch& batch) { return ids.contains(batch.metric_set()); }));
  }

  // Plans windows of both GPUs for one time until that is so. One that could not begin in time is
  // left out, and there is another.
  void PlanUntil(const std::function<bool()>& reached) {
    std::set<std::string> ready;
    size_t heard = 0;
    Until([&] {
      for (; heard < first_->heard.ready.size(); ++heard) {
        ready.insert(first_->heard.ready[heard].device_uuid());
      }
      if (ready.size() == devices_.size()) {
        ready.clear();
        const uint64_t begin_ns = RealtimeNs() + 20 * kMillisecondNs;
        for (const CudaDevice& device : devices_) {
          Command(first_->socket.get(), kSamplerWindowAt, device.uuid, begin_ns);
        }
      }
      return reached();
    });
  }

  void ExpectSamplesOfBothAlone() {
    for (const CudaDevice& device : devices_) {
      const size_t before = BatchesOf(device);
      PlanUntil([&] { return BatchesOf(device) > before + 1; });
    }
    for (const SamplerStatus& status : first_->heard.statuses) {
      EXPECT_EQ(status.reason(), "") << "neither GPU does without counters";
    }
    EXPECT_FALSE(fake_.read_while_sampling);
  }
};

TEST_F(TwoGpusTest, WindowsThatArePlannedForOneTimeAreUnderWayTogether) {
  fake_.start_takes_ns = 2 * kMillisecondNs;  // so that one ends later than the other
  StartOnBoth(true);
  PlanUntil([&] { return fake_.most_sampling == 2; });
  PlanUntil([&] { return BatchesOf(devices_[0]) > 3 && BatchesOf(devices_[1]) > 3; });
  EXPECT_FALSE(fake_.read_while_sampling);
  EXPECT_FALSE(fake_.set_while_sampling);
}

TEST_F(TwoGpusTest, AtTheEndAllWindowsAreStoppedBeforeOneIsRead) {
  StartOnBoth(true);
  PlanUntil([&] { return fake_.sampling == 2; });
  Command(first_->socket.get(), kSamplerQuit, devices_[0].uuid);
  Until([&] { return !first_->runs; });
  EXPECT_FALSE(fake_.read_while_sampling);
}

TEST_F(TwoGpusTest, WindowsThatNobodyPlansAreNotUnderWayTogether) {
  StartOnBoth(false);
  Until([&] { return BatchesOf(devices_[0]) > 3 && BatchesOf(devices_[1]) > 3; });
  EXPECT_EQ(fake_.most_sampling, 1);
  EXPECT_FALSE(fake_.read_while_sampling);
}

TEST_F(TwoGpusTest, WhereNoneBeginsBesideAnotherBothAreSampledInTurn) {
  fake_.start_beside_result = 999;
  StartOnBoth(true);
  ExpectSamplesOfBothAlone();
  EXPECT_EQ(fake_.most_sampling, 1);
}

TEST_F(TwoGpusTest, WhereOneBesideAnotherBringsNoSamplesBothAreSampledInTurn) {
  fake_.no_samples_beside = true;
  StartOnBoth(true);
  PlanUntil([&] { return fake_.most_sampling == 2; });
  ExpectSamplesOfBothAlone();
}

class HostileSubscriberTest : public SamplerLoopTest {
 protected:
  HostileSubscriberTest() {
    first_ = Start();
    Until([&] { return LastStatus(first_).counter_source() == SOURCE_SAMPLED; });
    absl::StatusOr<UniqueFd> connection = ConnectToSampler(uuid_);
    EXPECT_TRUE(connection.ok()) << connection.status();
    if (connection.ok()) connection_ = *std::move(connection);
  }

  void Subscribe() { Command(connection_.get(), kSamplerSubscribe, uuid_, kSamplerShareVersion); }

  bool TurnedAway() {
    char byte;
    return recv(connection_.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

  UniqueFd connection_;
};

TEST_F(HostileSubscriberTest, GarbageIsTurnedAway) {
  const std::string garbage(64, '\xff');
  ASSERT_EQ(send(connection_.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL), 64);
  Until([&] { return TurnedAway(); });
  UntilMoreSamples(first_);
}

TEST_F(HostileSubscriberTest, AnotherVersionIsTurnedAway) {
  Command(connection_.get(), kSamplerSubscribe, uuid_, kSamplerShareVersion + 1);
  Until([&] { return TurnedAway(); });
}

TEST_F(HostileSubscriberTest, OneThatSaysNothingIsTurnedAway) {
  Until([&] { return TurnedAway(); });
}

TEST_F(HostileSubscriberTest, CannotEndSetThePaceOrSpeakForOthers) {
  Subscribe();
  Command(connection_.get(), kSamplerSetDuty, uuid_, 0);
  Command(connection_.get(), kSamplerQuit, uuid_);
  Command(connection_.get(), kSamplerYield, std::string(16, 'x'));
  Command(connection_.get(), kSamplerUseDevice, std::string(16, 'x'));
  Command(connection_.get(), kSamplerCollectorSpent, uuid_, UINT64_MAX);
  UntilMoreSamples(first_);
  UntilMoreSamples(first_);
  EXPECT_EQ(fake_.enables, 1);
}

TEST_F(HostileSubscriberTest, OneThatReadsNothingHoldsNobodyUp) {
  Subscribe();
  for (int i = 0; i < 10; ++i) UntilMoreSamples(first_);
}

TEST_F(HostileSubscriberTest, AFloodOfCommandsWaits) {
  Subscribe();
  for (int i = 0; i < 2 * SamplerSubscribers::kCommandsPerSecond; ++i) {
    Command(connection_.get(), kSamplerStartWindow, uuid_);
  }
  UntilMoreSamples(first_);
}

}  // namespace
}  // namespace utlz
