#include "inject/ranges/range_counters.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/sanitizers.h"

namespace utlz::agent {
namespace {

// cuptiProfilerHostGetSupportedChips's.
struct SupportedChipsParams {
  size_t struct_size = sizeof(SupportedChipsParams);
  void* reserved = nullptr;
  size_t chips = 0;
  const char* const* chip_names = nullptr;
};

// CUPTI's host library itself, which needs no GPU.
class RangeCountersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kAddressSanitizer || kThreadSanitizer) {
      GTEST_SKIP() << "CUPTI loads its libraries with RTLD_DEEPBIND, which sanitizers refuse";
    }
    if (LoadCupti(&api_) != CuptiLoad::kLoaded || !api_.has_ranges) {
      GTEST_SKIP() << "no CUPTI with user ranges on this machine";
    }
  }

  std::vector<std::string> Chips() {
    LoadNvperf(api_);
    const auto ask = reinterpret_cast<cupti::Result (*)(SupportedChipsParams*)>(
        dlsym(api_.library, "cuptiProfilerHostGetSupportedChips"));
    SupportedChipsParams params;
    if (ask == nullptr || ask(&params) != cupti::kSuccess) return {};
    return {params.chip_names, params.chip_names + params.chips};
  }

  // Empty where CUPTI supports no ranges on the chip.
  std::vector<std::string> MetricsOf(const std::string& chip) {
    constexpr cupti::Result kNotSupported = 27;
    RangeCounters counters;
    std::vector<std::string> metrics;
    if (!counters.Load(&api_) || !counters.ConfigureFor(chip.c_str())) {
      EXPECT_EQ(counters.last_error(), kNotSupported) << chip;
    }
    for (uint32_t i = 0; i < counters.metrics(); ++i) metrics.emplace_back(counters.metric(i));
    counters.Release();
    return metrics;
  }

  CuptiApi api_;
};

bool Has(const std::vector<std::string>& metrics, const char* name) {
  return std::find(metrics.begin(), metrics.end(), name) != metrics.end();
}

// What a step or a layer of the program moved and executed, all in one pass.
TEST_F(RangeCountersTest, EveryChipCountsSomethingOfUseInOnePass) {
  const std::vector<std::string> chips = Chips();
  ASSERT_GT(chips.size(), 5u);
  size_t supported = 0;
  for (const std::string& chip : chips) {
    const std::vector<std::string> metrics = MetricsOf(chip);
    if (metrics.empty()) continue;
    ++supported;
    for (const char* name : {"sm__pipe_tensor_cycles_active.sum", "sm__inst_executed_pipe_fma.sum",
                             "sm__cycles_elapsed.max", "gpu__time_duration.sum"}) {
      EXPECT_TRUE(Has(metrics, name)) << chip << " " << name;
    }
  }
  // All but the one in GV11B.
  EXPECT_GE(supported + 1, chips.size());
}

TEST_F(RangeCountersTest, HopperCountsTensorOperationsByType) {
  const std::vector<std::string> metrics = MetricsOf("GH100");
  for (const char* name :
       {"dram__bytes_read.sum", "dram__bytes_write.sum", "sm__pipe_tensor_cycles_active.sum",
        "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum",
        "sm__ops_path_tensor_op_hgmma_src_fp16.sum",
        "sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32.sum", "sm__ops_path_tensor_src_fp8.sum",
        "gpu__time_duration.sum"}) {
    EXPECT_TRUE(Has(metrics, name)) << name;
  }
}

TEST_F(RangeCountersTest, AnUnknownChipHasNone) {
  RangeCounters counters;
  ASSERT_TRUE(counters.Load(&api_));
  EXPECT_FALSE(counters.ConfigureFor("XX999"));
  EXPECT_EQ(counters.metrics(), 0u);
  counters.Release();
}

}  // namespace
}  // namespace utlz::agent
