#include "collector/sampler/counters/metric_selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collector/sampler/counters/profiler_host.h"
#include "collector/sampler/driver/library_search.h"
#include "tests/support/sanitizers.h"

namespace utlz {
namespace {

const std::vector<RoleCandidates> kRoles = {
    {METRIC_DRAM_READ_BYTES, {{"cheap.read", "byte", 1}, {"read", "byte", 1}}},
    {METRIC_SM_CYCLES_ELAPSED, {{"elapsed", "cycle", 1}}, true},
    {METRIC_TENSOR_ACTIVE, {{"tensor", "cycle", 1}}},
};

// A chip that has these metrics, and room for `room` of them in a pass.
PassCounter Chip(std::set<std::string> metrics, size_t room) {
  return [metrics = std::move(metrics),
          room](const std::vector<std::string>& names) -> absl::StatusOr<size_t> {
    for (const std::string& name : names) {
      if (metrics.count(name) == 0) return absl::InvalidArgumentError(name);
    }
    return names.size() <= room ? 1 : 2;
  };
}

TEST(MetricSelection, TakesTheFirstCandidateThatTheChipHas) {
  const auto all = SelectMetrics(kRoles, Chip({"cheap.read", "read", "elapsed", "tensor"}, 9));
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(MetricNames(*all), (std::vector<std::string>{"cheap.read", "elapsed", "tensor"}));
  const auto fallback = SelectMetrics(kRoles, Chip({"read", "elapsed", "tensor"}, 9));
  ASSERT_TRUE(fallback.ok());
  EXPECT_EQ(MetricNames(*fallback), (std::vector<std::string>{"read", "elapsed", "tensor"}));
}

TEST(MetricSelection, LeavesOutWhatNeedsASecondPass) {
  const auto selected = SelectMetrics(kRoles, Chip({"read", "elapsed", "tensor"}, 2));
  ASSERT_TRUE(selected.ok());
  EXPECT_EQ(MetricNames(*selected), (std::vector<std::string>{"read", "elapsed"}));
}

TEST(MetricSelection, NeedsTheClockAndSomeWork) {
  EXPECT_TRUE(absl::IsUnimplemented(SelectMetrics(kRoles, Chip({"read"}, 9)).status()));
  EXPECT_TRUE(absl::IsUnimplemented(SelectMetrics(kRoles, Chip({"elapsed"}, 9)).status()));
}

// CUPTI's host library itself, for every chip that it knows; it needs no GPU.
class RealCupti : public testing::Test {
 protected:
  void SetUp() override {
    if (kAddressSanitizer || kThreadSanitizer) {
      GTEST_SKIP() << "CUPTI loads its libraries with RTLD_DEEPBIND, which sanitizers refuse";
    }
    table_ = LoadCupti(FindCupti({}).paths);
    if (!table_.ok()) GTEST_SKIP() << table_.status();
  }

  absl::StatusOr<SelectedMetrics> Select(const std::string& chip,
                                         const std::vector<RoleCandidates>& roles) {
    return SelectMetrics(roles, CuptiPassCounter(*table_, chip, {}));
  }

  static bool HasRole(const SelectedMetrics& metrics, MetricRole role) {
    return std::any_of(metrics.begin(), metrics.end(),
                       [role](const SelectedMetric& metric) { return metric.role == role; });
  }

  absl::StatusOr<CuptiTable> table_ = absl::UnknownError("not loaded");
};

TEST_F(RealCupti, EveryChipSinceTuringHasABaseSet) {
  const absl::StatusOr<std::vector<std::string>> chips = SupportedChips(*table_);
  ASSERT_TRUE(chips.ok()) << chips.status();
  ASSERT_GE(chips->size(), 20u);
  for (const std::string& chip : *chips) {
    SCOPED_TRACE(chip);
    const absl::StatusOr<SelectedMetrics> base = Select(chip, BaseRoles());
    if (chip.rfind("GV", 0) == 0) {  // Volta has no PM sampling
      EXPECT_TRUE(absl::IsUnimplemented(base.status()));
      continue;
    }
    ASSERT_TRUE(base.ok()) << base.status();
    EXPECT_TRUE(HasRole(*base, METRIC_SM_CYCLES_ACTIVE));
    const auto host = ProfilerHost::Create(*table_, chip, {}, MetricNames(*base));
    ASSERT_TRUE(host.ok());
    EXPECT_EQ(host->passes(), 1u);
    // The memory controllers of these are the CPU's: no counter of theirs can be sampled.
    const bool integrated = chip == "GA10B" || chip == "GB10B" || chip == "GB20B";
    EXPECT_EQ(HasRole(*base, METRIC_DRAM_READ_BYTES), !integrated);
    EXPECT_EQ(HasRole(*base, METRIC_DRAM_WRITE_BYTES), !integrated);
  }
}

TEST_F(RealCupti, DataCentreChipsGetEveryDetail) {
  for (const char* chip : {"GH100", "GB100"}) {
    SCOPED_TRACE(chip);
    const absl::StatusOr<SelectedMetrics> extended = Select(chip, ExtendedRoles());
    ASSERT_TRUE(extended.ok()) << extended.status();
    EXPECT_EQ(extended->size(), ExtendedRoles().size());
  }
}

TEST_F(RealCupti, HopperHasInstructionsInOnePass) {
  const absl::StatusOr<SelectedMetrics> instructions = Select("GH100", InstructionRoles());
  ASSERT_TRUE(instructions.ok()) << instructions.status();
  for (const MetricRole role :
       {METRIC_FMA_INSTRUCTIONS, METRIC_FMA_LITE_INSTRUCTIONS, METRIC_ALU_INSTRUCTIONS,
        METRIC_XU_INSTRUCTIONS, METRIC_INSTRUCTIONS, METRIC_THREAD_INSTRUCTIONS,
        METRIC_ALU_THREAD_INSTRUCTIONS, METRIC_XU_THREAD_INSTRUCTIONS, METRIC_SM_CYCLES_ACTIVE}) {
    EXPECT_TRUE(HasRole(*instructions, role)) << MetricRole_Name(role);
  }
}

TEST_F(RealCupti, AnUnknownMetricIsRefused) {
  EXPECT_FALSE(ProfilerHost::Create(*table_, "GH100", {}, {"no__such_metric.sum"}).ok());
  EXPECT_FALSE(ProfilerHost::Create(*table_, "XX999", {}, {"dram__bytes_read.sum"}).ok());
}

}  // namespace
}  // namespace utlz
