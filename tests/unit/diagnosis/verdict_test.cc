// The verdict on a known run: what it says in one sentence, and of whom.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "collector/diagnosis/findings.h"
#include "collector/gpu_uuid.h"
#include "tests/support/known_run.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

// The verdict of a run of one second and nothing wrong, once something is changed.
std::string Verdict(const std::function<void(KnownRun*)>& change,
                    const std::vector<KnownKernel>& kernels = {}) {
  KnownRun run(kernels);
  run.summary.mutable_devices(0)->set_hfu(0.4);
  run.summary.mutable_efficiency()->set_hfu(0.4);
  run.summary.mutable_devices(0)->set_gpu_busy_share(0.8);
  if (change) change(&run);
  SummarizeFindings(run.state, run.analysis, &run.summary);
  return run.summary.verdict();
}

TEST(VerdictTest, SaysHowBusyAndOfWhatUse) {
  EXPECT_EQ(
      Verdict({}),
      "The GPU was busy 80.0 % of the time but reached 40.0 % of peak FLOP/s; no loss of half a "
      "percent was found.");
  EXPECT_EQ(Verdict([](KnownRun* run) {
              run->summary.mutable_steady_state()->set_scope("steps");
            }).find("In its steps the GPU was busy 80.0 %"),
            0u);
}

// A server waits for requests; without steps no rule says whether that is so.
TEST(VerdictTest, LongGapsThatNoRuleExplainsAreSaid) {
  const auto idle = [](double share, bool steps) {
    return Verdict([=](KnownRun* run) {
      StretchContent& content = run->analysis.devices[0].part.content;
      const auto set = [&content](TimeCategory category, double time_ns) {
        content.time_ns[static_cast<size_t>(category)] = time_ns;
      };
      set(TimeCategory::kOtherGap, share * 1e9);
      set(TimeCategory::kReadbackGap, 0.1e9);
      if (steps) run->summary.mutable_steps()->set_steps(10);
    });
  };
  EXPECT_NE(idle(0.4, false)
                .find("FLOP/s; 40.0 % of the time it stood idle in gaps of more than "
                      "0.1 ms, for requests or the host; biggest loss beside that: "),
            std::string::npos)
      << idle(0.4, false);
  EXPECT_EQ(idle(0.05, false).find("stood idle"), std::string::npos) << "less than what was found";
  EXPECT_EQ(idle(0.4, true).find("for requests"), std::string::npos) << "steps say what it is";
}

TEST(VerdictTest, TheFrameworkIsThatOfTheKernels) {
  const auto type_of = [](const char* name) {
    KnownRun run({{.name = name, .time_ns = 3e8, .grid = 10}});
    SummarizeFindings(run.state, run.analysis, &run.summary);
    return run.summary.findings(0).type_this();
  };
  EXPECT_EQ(type_of("loop_add_fusion_18"), "batch_size = 4 * batch_size");
  EXPECT_EQ(type_of("_ZN2at6native9some_gemmEv"), "DataLoader(..., batch_size=4 * batch_size)");
}

TEST(VerdictTest, NextToNoFlopsAreNotToldAsZero) {
  EXPECT_NE(Verdict([](KnownRun* run) {
              run->summary.mutable_efficiency()->set_hfu(0.0004);
            }).find("but reached less than 0.1 % of peak FLOP/s"),
            std::string::npos);
}

TEST(VerdictTest, SaysWhatMemoryMovedWhereThatIsTheBetterUsed) {
  const auto with_bandwidth = [](double share) {
    return Verdict(
        [=](KnownRun* run) { run->summary.mutable_devices(0)->set_hbm_bandwidth_share(share); });
  };
  EXPECT_NE(
      with_bandwidth(0.6).find("but reached 40.0 % of peak FLOP/s and 60.0 % of memory bandwidth;"),
      std::string::npos);
  EXPECT_EQ(with_bandwidth(0.3).find("bandwidth"), std::string::npos);
}

TEST(VerdictTest, OfSeveralDevicesIsTheirMeanByTimeAndHfuByPeak) {
  const std::string verdict = Verdict([](KnownRun* run) {
    DeviceSummary* idle = run->summary.add_devices();
    idle->set_steady_state_ns(3'000'000'000);
    idle->set_hfu(0);
    run->summary.mutable_efficiency()->set_hfu(0.15);
  });
  EXPECT_NE(verdict.find("busy 20.0 % of the time but reached 15.0 %"), std::string::npos)
      << verdict;
}

void AddRank(uint32_t rank, const std::string& uuid, Summary* summary) {
  ProcessSummary* process = summary->add_processes();
  process->set_rank(rank);
  process->add_devices(uuid);
}

const std::string kFirst = FormatGpuUuid(RunBuilder::Uuid());
const std::string kSecond = FormatGpuUuid(RunBuilder::Uuid('B'));

// Two devices, the second of which computes longer. Before its first step it waited for the other
// one for two seconds, in a collective.
void AddSlowerDevice(KnownRun* run) {
  Summary* summary = &run->summary;
  summary->mutable_steps()->set_steps(10);
  summary->mutable_steady_state()->set_scope("steps");
  summary->mutable_steps()->set_time_mean_ns(1e6);
  summary->mutable_devices(0)->set_uuid(kFirst);
  DeviceSummary* slower = summary->add_devices();
  *slower = summary->devices(0);
  slower->set_uuid(kSecond);
  slower->set_exposed_communication_ns(2'000'000'000);
  run->state.devices[*run->state.devices.Find(RunBuilder::Uuid('B'))].used = true;
  run->analysis.devices.resize(2);
  run->SetComputeNs(500'000'000);
  StretchContent& content = run->analysis.devices[1].part.content;
  content.time_ns[static_cast<size_t>(TimeCategory::kCompute)] = 900'000'000;
}

TEST(VerdictTest, NamesTheSlowestGpuByItsRank) {
  EXPECT_NE(Verdict(AddSlowerDevice)
                .find("Of its 2 GPUs, GPU 1 computes longest, 900 µs a step; the shortest 500 µs"),
            std::string::npos)
      << Verdict(AddSlowerDevice);
  const std::string alike = Verdict([](KnownRun* run) {
    AddSlowerDevice(run);
    run->SetComputeNs(885'000'000);
  });
  EXPECT_NE(alike.find("Its 2 GPUs compute alike, 900 µs a step."), std::string::npos) << alike;
  const std::string ranks = Verdict([](KnownRun* run) {
    AddSlowerDevice(run);
    AddRank(4, kFirst, &run->summary);
    AddRank(7, kSecond, &run->summary);
  });
  EXPECT_NE(ranks.find("Of its 2 ranks, rank 7 computes longest"), std::string::npos) << ranks;
  const std::string shared = Verdict([](KnownRun* run) {
    AddSlowerDevice(run);
    AddRank(4, kFirst, &run->summary);
    AddRank(7, kSecond, &run->summary);
    AddRank(8, kSecond, &run->summary);
  });
  EXPECT_NE(shared.find("GPU 1 computes longest"), std::string::npos) << shared;
}

TEST(VerdictTest, APauseIsNoFault) {
  const std::string verdict =
      Verdict([](KnownRun* run) { run->summary.mutable_devices(0)->set_gpu_busy_share(0.49); });
  EXPECT_NE(verdict.find("it was asked for nothing"), std::string::npos) << verdict;
  EXPECT_EQ(Verdict([](KnownRun* run) {
              run->summary.mutable_devices(0)->set_gpu_busy_share(0.5);
            }).find("asked for nothing"),
            std::string::npos);
}

TEST(VerdictTest, ALimitThatIsNoFaultIsNotCalledSmall) {
  KnownRun run({{.name = "nvjet_hsh_64x8_64x16_4x1_v_bz_TNT",
                 .time_ns = 8e8,
                 .compute_ns = 1e7,
                 .memory_ns = 7.5e8}});
  SummarizeFindings(run.state, run.analysis, &run.summary);
  ASSERT_TRUE(run.summary.findings(0).below_threshold()) << run.summary.findings(0).rule();
  const std::string& verdict = run.summary.verdict();
  EXPECT_NE(verdict.find("; no fault above its threshold; what limits it: Products of a few rows"),
            std::string::npos)
      << verdict;
}

TEST(VerdictTest, WithoutCountersSaysSo) {
  const auto times = [](KnownRun* run) {
    run->summary.mutable_devices(0)->set_source(SOURCE_TIME_ONLY);
  };
  EXPECT_EQ(Verdict(times),
            "The GPU was busy 80.0 % of the time; without counters nothing can be said about how "
            "well it was used.");
  const std::string totals = Verdict([&](KnownRun* run) {
    times(run);
    run->summary.mutable_devices(0)->set_sm_active_share(0.3);
  });
  EXPECT_EQ(totals,
            "The GPU was busy 80.0 % of the time, with 30.0 % of its multiprocessors active; the "
            "work of kernels was not counted.");
}

TEST(VerdictTest, FlopsOutsideOfTensorCoresAreNoUseOfThem) {
  const auto product = [](double time_ns) {
    return std::vector<KnownKernel>{{.name = "some_gemm",
                                     .time_ns = time_ns,
                                     .compute_ns = 0.9 * time_ns,
                                     .data_type = "fp32"}};
  };
  const auto with_hfu = [](double hfu) {
    return [hfu](KnownRun* run) { run->summary.mutable_efficiency()->set_hfu(hfu); };
  };
  EXPECT_NE(Verdict(with_hfu(0.4), product(0.49e9)).find("reached 40.0 % of peak FLOP/s"),
            std::string::npos);
  EXPECT_NE(Verdict(with_hfu(0.01), product(0.51e9)).find("to be had, did 1.0 %"),
            std::string::npos);
  EXPECT_NE(Verdict(with_hfu(0.0004), product(0.51e9)).find("to be had, stood idle"),
            std::string::npos)
      << "it would show as 0.0 %";
}

TEST(VerdictTest, NamesWhatCostsMost) {
  const auto heat = [](KnownRun* run) {
    DeviceSummary* device = run->summary.mutable_devices(0);
    device->add_clock_limits("thermal");
    device->set_sm_clock_hz(1e9);
    device->set_sm_clock_maximum_hz(2e9);
  };
  EXPECT_NE(Verdict(heat).find("; biggest loss: Heat holds the clock down, 45.0 % of the time."),
            std::string::npos);
  const std::string leak =
      Verdict([](KnownRun* run) { run->summary.mutable_memory()->set_leak_suspected(true); });
  EXPECT_TRUE(leak.ends_with("(a leak is suspected).")) << leak;
}

TEST(VerdictTest, OfNoWorkSaysSo) {
  const std::string nothing = "No work of a GPU was recorded.";
  EXPECT_EQ(Verdict([](KnownRun* run) { run->summary.clear_devices(); }), nothing);
  EXPECT_EQ(Verdict([](KnownRun* run) { run->summary.mutable_devices(0)->set_steady_state_ns(0); }),
            nothing);
}

}  // namespace
}  // namespace utlz
