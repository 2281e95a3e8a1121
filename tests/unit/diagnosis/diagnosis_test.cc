// The diagnosis of facts that are known: from which share on each rule speaks, and what it says of
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "collector/diagnosis/finding_facts.h"
#include "collector/diagnosis/findings.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

constexpr double kWindowNs = 1e9;

class DiagnosisTest : public testing::Test {
 protected:
  DiagnosisTest() {
    facts_.summary = &summary_;
    facts_.window_ns = kWindowNs;
    summary_.mutable_steps()->set_steps(3);
    // Facts that rules need beside the time that they look at.
    facts_.gaps.upload.gaps = 1;
  }

  // The finding of one rule, or an empty one.
  FindingSummary Of(const std::string& rule) {
    for (const FindingSummary& finding : Diagnose(facts_)) {
      if (finding.rule() == rule) return finding;
    }
    return {};
  }
  // As a finding of its own, at its threshold.
  bool Says(const std::string& rule) {
    return Of(rule).rule() == rule && !Of(rule).below_threshold();
  }
  bool SaysNothing() {
    const auto findings = Diagnose(facts_);
    return std::all_of(findings.begin(), findings.end(),
                       [](const FindingSummary& finding) { return finding.below_threshold(); });
  }

  Summary summary_;
  FindingFacts facts_;
};

TEST_F(DiagnosisTest, EachRuleSpeaksFromItsShareOfTheTimeOn) {
  const struct {
    const char* rule;
    double* lost_ns;
    double share;
  } rules[] = {{"lagging_rank", &facts_.communication.lagging_lost_ns, 0.05},
               {"small_batch", &facts_.kernels.small_grid_ns, 0.25},
               {"launch_bound", &facts_.gaps.launch.time_ns, 0.15},
               {"synchronization", &facts_.gaps.readback.time_ns, 0.05},
               {"input_pipeline", &facts_.gaps.upload.time_ns, 0.05},
               {"host_work", &facts_.gaps.inside_ns, 0.10},
               {"pageable_copies", &facts_.copies.pageable_exposed_ns, 0.03},
               {"exposed_copies", &facts_.copies.pinned_exposed_ns, 0.05},
               {"peer_copies", &facts_.copies.peer_exposed_ns, 0.05},
               {"exposed_communication", &facts_.communication.exposed_ns, 0.10},
               {"gaps_between_steps", &facts_.gaps.between_steps_ns, 0.10},
               {"first_calls", &facts_.gaps.first_calls_ns, 0.15},
               {"uneven_batches", &facts_.communication.uneven_ns, 0.10},
               {"slow_normalization", &facts_.kernels.normalization.lost_ns, 0.15},
               {"slow_pooling", &facts_.kernels.pooling.lost_ns, 0.15},
               {"slow_matrix", &facts_.kernels.matrix.lost_ns, 0.15},
               {"slow_streaming", &facts_.kernels.streaming.lost_ns, 0.15},
               {"padding", &facts_.kernels.padding_ns, 0.15},
               {"unfused_elementwise", &facts_.kernels.elementwise_ns, 0.20},
               {"latency_bound_kernels", &facts_.kernels.latency.lost_ns, 0.20},
               {"single_precision", &facts_.kernels.single_precision_ns, 0.10},
               {"thermal_throttling", &facts_.throttled_ns, 0.03},
               {"one_slow_kernel", &facts_.kernels.one_kernel.lost_ns, 0.15}};
  EXPECT_TRUE(Diagnose(facts_).empty());
  for (const auto& rule : rules) {
    *rule.lost_ns = rule.share * kWindowNs;
    EXPECT_TRUE(Says(rule.rule)) << rule.rule;
    EXPECT_EQ(Diagnose(facts_).size(), 1u) << rule.rule;
    *rule.lost_ns = 0.99 * rule.share * kWindowNs;
    EXPECT_TRUE(SaysNothing()) << rule.rule;
    ASSERT_EQ(Diagnose(facts_).size(), 1u) << "below its threshold it is told all the same";
    EXPECT_TRUE(Of(rule.rule).below_threshold()) << rule.rule;
    EXPECT_LE(Of(rule.rule).title_short().size(), 60u) << rule.rule;
    EXPECT_FALSE(Of(rule.rule).type_this().empty()) << rule.rule;
    *rule.lost_ns = 0.004 * kWindowNs;
    EXPECT_TRUE(Diagnose(facts_).empty()) << rule.rule << ": not worth a line";
    *rule.lost_ns = 0;
  }
}

TEST_F(DiagnosisTest, InputAndHostWorkAreOfProgramsThatStep) {
  facts_.gaps.upload.time_ns = facts_.gaps.inside_ns = 0.5 * kWindowNs;
  EXPECT_TRUE(Says("input_pipeline"));
  EXPECT_TRUE(Says("host_work"));
  summary_.mutable_steps()->set_steps(2);
  EXPECT_TRUE(SaysNothing()) << "it may wait for requests";
}

TEST_F(DiagnosisTest, PromptsAreNoInputOfALoader) {
  facts_.gaps.upload.time_ns = 0.5 * kWindowNs;
  StepLevel* calls = summary_.mutable_steps()->add_levels();
  EXPECT_TRUE(Says("input_pipeline"));
  calls->set_prefill_time_ns(1e6);
  EXPECT_FALSE(Says("input_pipeline"));
}

TEST_F(DiagnosisTest, WhatTracingIsSupposedToCostMakesTheGainUncertain) {
  facts_.gaps.inside_ns = 0.2 * kWindowNs;
  facts_.traced_graphs_ns = 0.11 * kWindowNs;
  EXPECT_FALSE(Says("host_work"));
  facts_.gaps.launch = {.gaps = 1000, .time_ns = 0.3 * kWindowNs};
  facts_.traced_launch_ns = 9'000;
  EXPECT_NEAR(Of("launch_bound").gain_ns(), 0.3 * kWindowNs - 1000 * 1'000, 1)
      << "a microsecond stays between nodes of a graph";
  EXPECT_NEAR(Of("launch_bound").gain_error_ns(), 1000 * 9'000, 1) << "it is only supposed";
  facts_.gaps.launch.gaps = 1'000'000;
  EXPECT_TRUE(Says("launch_bound"));
  EXPECT_FALSE(Of("launch_bound").has_gain_ns()) << "nothing is to be gained";
}

TEST_F(DiagnosisTest, WhatTracingIsSupposedToHaveAddedIsNoRestOfTheProgram) {
  facts_.gaps.other.time_ns = facts_.gaps.inside_ns = 0.3 * kWindowNs;
  facts_.traced_graphs_ns = 0.05 * kWindowNs;
  const std::vector<FindingSummary> findings = Diagnose(facts_);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NEAR(findings[0].gain_ns(), 0.25 * kWindowNs, 1);
}

// The share stands beside a number of gaps and their mean length: all three are as measured.
TEST_F(DiagnosisTest, LongGapsAreSaidAsMeasuredAndWithoutTracings) {
  facts_.gaps.between_steps_ns = 0.2 * kWindowNs;
  facts_.gaps.inside_ns = 0.2 * kWindowNs;
  facts_.traced_graphs_ns = 0.1 * kWindowNs;
  for (const char* rule : {"gaps_between_steps", "host_work"}) {
    const FindingSummary finding = Of(rule);
    EXPECT_NEAR(finding.gain_ns(), 0.15 * kWindowNs, 1) << rule;
    EXPECT_NE(finding.evidence().find("20.0 % of the time (15.0 % without what tracing is "
                                      "supposed to have added)"),
              std::string::npos)
        << finding.evidence();
  }
  facts_.traced_graphs_ns = 0;
  EXPECT_EQ(Of("host_work").evidence().find("tracing"), std::string::npos);
}

TEST_F(DiagnosisTest, GapsAreTheirNumberAndMeanLength) {
  facts_.gaps.launch = {.gaps = 2'000, .time_ns = 0.2 * kWindowNs};
  const std::string evidence = Of("launch_bound").evidence();
  EXPECT_NE(evidence.find("2,000 gaps of 100 µs on average"), std::string::npos) << evidence;
  EXPECT_NE(evidence.find("20.0 % of the time"), std::string::npos) << evidence;
}

TEST_F(DiagnosisTest, GainsAreOfWhatARuleCanGetBack) {
  facts_.communication.exposed_ns = 0.4 * kWindowNs;
  facts_.communication.lagging_lost_ns = 0.3 * kWindowNs;
  EXPECT_NEAR(Of("exposed_communication").gain_ns(), 0.1 * kWindowNs, 1)
      << "the rest is the rank's";
  facts_.communication.exposed_ns = facts_.communication.lagging_lost_ns = 0;
  facts_.kernels.weights_ns = 0.4 * kWindowNs;
  EXPECT_NEAR(Of("bandwidth_bound_matrix").gain_ns(), 0.2 * kWindowNs, 1) << "half of the bytes";
  facts_.kernels.weights_ns = 0;
  facts_.kernels.small_grid_ns = 0.3 * kWindowNs;
  EXPECT_TRUE(Says("small_batch")) << "what it takes counts, not what could be gained";
  EXPECT_FALSE(Of("small_batch").has_gain_ns());
}

TEST_F(DiagnosisTest, WhatToTypeAgainstCommunicationIsOfItsLongestKind) {
  facts_.communication.exposed_ns = 0.2 * kWindowNs;
  EXPECT_NE(Of("exposed_communication").type_this().find("DistributedDataParallel"),
            std::string::npos);
  const auto with = [this](const char* collective, uint64_t exposed_ns) {
    CommunicationSummary* communication = summary_.add_communication();
    communication->set_collective(collective);
    communication->set_exposed_ns(exposed_ns);
    return Of("exposed_communication");
  };
  EXPECT_NE(with("AllReduce", 100).type_this().find("DistributedDataParallel"), std::string::npos);
  EXPECT_NE(with("AllGather", 200).type_this().find("FullyShardedDataParallel"), std::string::npos);
  const FindingSummary pipeline = with("SendRecv", 300);
  EXPECT_NE(pipeline.type_this().find("Interleaved1F1B"), std::string::npos)
      << pipeline.type_this();
  EXPECT_NE(pipeline.advice().find("micro-batches"), std::string::npos) << pipeline.advice();
  EXPECT_NE(pipeline.evidence().find("most of it in SendRecv"), std::string::npos)
      << pipeline.evidence();
}

TEST_F(DiagnosisTest, AGainIsNeverMoreThanTheWholeAndToldByStepWhereThereAreSteps) {
  facts_.communication.lagging_lost_ns = 3 * kWindowNs;  // of the whole run
  EXPECT_EQ(Of("lagging_rank").gain_ns(), kWindowNs);
  EXPECT_EQ(Of("lagging_rank").gain_share(), 1);
  EXPECT_FALSE(Of("lagging_rank").has_gain_per_step_ns());
  facts_.step_ns = 2e6;
  EXPECT_EQ(Of("lagging_rank").gain_per_step_ns(), 2e6);
}

TEST_F(DiagnosisTest, ALeakComesFirstAndSaysWhatIsKnown) {
  MemorySummary* memory = summary_.mutable_memory();
  memory->set_leak_suspected(true);
  memory->set_growth_bytes_per_second(1e6);
  facts_.gaps.readback.time_ns = 0.5 * kWindowNs;
  EXPECT_EQ(Diagnose(facts_)[0].rule(), "memory_leak") << "it ends the run";
  std::string evidence = Of("memory_leak").evidence();
  EXPECT_EQ(evidence.find("a step"), std::string::npos) << evidence;
  EXPECT_EQ(evidence.find("enough for"), std::string::npos) << evidence;
  memory->set_growth_bytes_per_step(20e6);
  memory->set_steps_to_full(1234);
  evidence = Of("memory_leak").evidence();
  EXPECT_NE(evidence.find("20.0 MB a step"), std::string::npos) << evidence;
  EXPECT_NE(evidence.find("about 1,230 steps"), std::string::npos) << evidence;
  memory->set_leak_suspected(false);
  EXPECT_FALSE(Says("memory_leak"));
}

TEST_F(DiagnosisTest, LatencyIsSetAgainstTheShareOfActiveMultiprocessors) {
  facts_.kernels.latency.time_ns = facts_.kernels.latency.lost_ns = 0.5 * kWindowNs;
  EXPECT_EQ(Of("latency_bound_kernels").evidence().find("SMs"), std::string::npos);
  facts_.sm_active_share = 0.25;
  facts_.busy_share = 0.75;
  EXPECT_NE(
      Of("latency_bound_kernels").evidence().find("active 25.0 % of it where GPU busy says 75"),
      std::string::npos);
}

TEST_F(DiagnosisTest, FindingsBelowTheirThresholdsComeLastAndTheRestIsTold) {
  facts_.gaps.launch = {.gaps = 10, .time_ns = 0.14 * kWindowNs};
  facts_.gaps.readback.time_ns = 0.06 * kWindowNs;
  facts_.kernels.savings_ns = 0.1 * kWindowNs;
  const std::vector<FindingSummary> findings = Diagnose(facts_);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].rule(), "synchronization");
  EXPECT_EQ(findings[1].rule(), "launch_bound") << "more, and below its threshold";
  EXPECT_EQ(findings[2].rule(), "remaining");
  EXPECT_TRUE(findings[2].below_threshold());
  double sum_ns = 0;
  for (const FindingSummary& finding : findings) sum_ns += finding.gain_ns();
  EXPECT_NEAR(sum_ns, 0.3 * kWindowNs, 1) << "all that lies between now and the rooflines";
}

// Tiny kernels: no gap is long, and a third of the time is gaps.
TEST_F(DiagnosisTest, ShortGapsCountByWhatAGraphWouldNotHaveOfThem) {
  const double gaps = 0.32 * kWindowNs / 1'800;
  facts_.gaps.turnaround = {.gaps = gaps, .time_ns = gaps * 1'800};
  EXPECT_FALSE(Says("launch_bound")) << "14.2 %";
  EXPECT_TRUE(Of("launch_bound").below_threshold());
  facts_.gaps.turnaround = {.gaps = gaps, .time_ns = gaps * 1'900};
  EXPECT_TRUE(Says("launch_bound"));
  EXPECT_NEAR(Of("launch_bound").gain_ns(), gaps * 900, 1);
  facts_.gaps.turnaround = {.gaps = gaps, .time_ns = gaps * 1'000};
  EXPECT_TRUE(SaysNothing()) << "no graph has less";
}

TEST_F(DiagnosisTest, WaitsForCopiesSayHowLongAndHowSeldomTheyCame) {
  facts_.step_ns = kWindowNs / 90;
  facts_.gaps.readback = {.gaps = 4, .time_ns = 0.06 * kWindowNs};
  EXPECT_NE(Of("synchronization").evidence().find(": 4 times, "), std::string::npos);
  EXPECT_NE(Of("synchronization").evidence().find(" on average, once in 23 steps"),
            std::string::npos);
  facts_.gaps.readback = {.gaps = 90, .time_ns = 0.06 * kWindowNs};
  EXPECT_EQ(Of("synchronization").evidence().find("once in"), std::string::npos);
}

// A checkpoint is copied to the host, and then written: one cause.
TEST_F(DiagnosisTest, CopiesToTheHostAndTheWaitAfterThemAreOneFinding) {
  facts_.gaps.readback = {.gaps = 4, .time_ns = 0.06 * kWindowNs};
  facts_.copies = {.pageable_exposed_ns = 0.05 * kWindowNs,
                   .pinned_exposed_ns = 0.04 * kWindowNs,
                   .pageable_read_back_ns = 0.03 * kWindowNs};
  EXPECT_NEAR(Of("synchronization").gain_share(), 0.09, 1e-9);
  EXPECT_NE(Of("synchronization").evidence().find("; the copies took 3.0 % of the time more"),
            std::string::npos);
  EXPECT_NEAR(Of("pageable_copies").gain_share(), 0.02, 1e-9);
  EXPECT_NEAR(Of("exposed_copies").gain_share(), 0.04, 1e-9);
}

TEST_F(DiagnosisTest, ACopyThatIsLongerThanTheWaitAfterItHasIt) {
  facts_.gaps.readback = {.gaps = 4, .time_ns = 0.02 * kWindowNs};
  facts_.copies = {.pageable_exposed_ns = 0.08 * kWindowNs,
                   .pinned_exposed_ns = 0.08 * kWindowNs,
                   .pageable_read_back_ns = 0.03 * kWindowNs,
                   .pinned_read_back_ns = 0.01 * kWindowNs};
  const auto findings = Diagnose(facts_);
  for (const FindingSummary& finding : findings) EXPECT_NE(finding.rule(), "synchronization");
  EXPECT_NEAR(Of("pageable_copies").gain_share(), 0.095, 1e-9);
  EXPECT_NEAR(Of("exposed_copies").gain_share(), 0.085, 1e-9);
}

TEST_F(DiagnosisTest, TheRestSaysWhatItIsOf) {
  facts_.gaps.readback.time_ns = 0.06 * kWindowNs;
  facts_.gaps.turnaround.time_ns = 0.02 * kWindowNs;
  facts_.gaps.turnaround.gaps = 0.02 * kWindowNs / 1'000;
  EXPECT_EQ(Of("remaining").title(), "The rest is spread over short gaps") << "nothing was counted";
  facts_.kernels.savings_ns = 0.1 * kWindowNs;
  EXPECT_EQ(Of("remaining").title(),
            "The rest is spread over short gaps and kernels near their usual rates");
  // Without steps long gaps are of no rule.
  summary_.clear_steps();
  facts_.gaps.other.time_ns = 0.3 * kWindowNs;
  EXPECT_EQ(Of("remaining").title(),
            "Most of the rest is idle time in gaps of more than 0.1 ms, for requests or the host");
}

TEST_F(DiagnosisTest, WhatToTypeIsOfTheProgramsFramework) {
  facts_.gaps.launch = {.gaps = 10, .time_ns = 0.5 * kWindowNs};
  const std::string pytorch = "model = torch.compile(model, mode=\"reduce-overhead\")";
  EXPECT_EQ(Of("launch_bound").type_this(), pytorch + "  # JAX: step = jax.jit(step)");
  facts_.kernels.framework = Framework::kPyTorch;
  EXPECT_EQ(Of("launch_bound").type_this(), pytorch);
  facts_.kernels.framework = Framework::kJax;
  EXPECT_EQ(Of("launch_bound").type_this(), "step = jax.jit(step)");
}

TEST_F(DiagnosisTest, ReadingWeightsAtTheRoofIsARemark) {
  facts_.kernels.weights_ns = 0.9 * kWindowNs;
  EXPECT_FALSE(Says("bandwidth_bound_matrix"));
  EXPECT_EQ(Of("bandwidth_bound_matrix").rule(), "bandwidth_bound_matrix");
}

TEST_F(DiagnosisTest, ProductsThatMoveWhatGoesInAndOutAreARemarkThatPromisesNothing) {
  facts_.kernels.activations_ns = 0.9 * kWindowNs;
  EXPECT_FALSE(Says("memory_bound_products"));
  EXPECT_EQ(Of("memory_bound_products").rule(), "memory_bound_products");
  EXPECT_FALSE(Of("memory_bound_products").has_gain_ns());
}

TEST_F(DiagnosisTest, TilesOfFewRowsAreAFaultBesideProductsOfMany) {
  facts_.kernels.narrow_ns = 0.4 * kWindowNs;
  facts_.kernels.narrow_rows = 8;
  EXPECT_FALSE(Says("padded_tiles")) << "it decodes, and does nothing else";
  facts_.kernels.wide_matrix_ns = 0.5 * kWindowNs;
  EXPECT_TRUE(Says("padded_tiles"));
  EXPECT_NEAR(Of("padded_tiles").gain_ns(), 0.35 * kWindowNs, 1) << "seven eighths";
}

TEST_F(DiagnosisTest, NothingIsFoundInNoTime) {
  facts_.window_ns = 0;
  facts_.gaps.readback.time_ns = 1;
  EXPECT_TRUE(Diagnose(facts_).empty());
}

}  // namespace
}  // namespace utlz
