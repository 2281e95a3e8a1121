#include "inject/record/first_launch_watch.h"

#include <gtest/gtest.h>

#include "tests/unit/inject/trace_switch_stand_ins.h"

namespace utlz::agent {
namespace {

class FirstLaunchWatchTest : public TraceSwitchTest {
 protected:
  FirstLaunchWatchTest() { watch_.Create(&cupti_, &cuda_); }

  FirstLaunchWatch watch_;
};

TEST_F(FirstLaunchWatchTest, BeforeThereIsAContextAllThatComeAreWatched) {
  watch_.On();
  EXPECT_TRUE(watch_.on());
  EXPECT_EQ(kinds_on, std::set<uint32_t>{cupti::kKindOverhead});
  EXPECT_TRUE(driver_calls_on.contains(19)) << "cuModuleLoadData";
  EXPECT_TRUE(runtime_calls_on.contains(418)) << "cudaGraphInstantiateWithFlags";
  primary_contexts = {7};
  order.clear();
  watch_.On();
  EXPECT_TRUE(order.empty()) << "they are on already";
  watch_.Off();
  EXPECT_FALSE(watch_.on());
  EXPECT_TRUE(kinds_on.empty());
  EXPECT_EQ(order, std::vector<int>{-static_cast<int>(cupti::kKindOverhead)});
  EXPECT_TRUE(driver_calls_on.empty());
  EXPECT_TRUE(runtime_calls_on.empty());
}

TEST_F(FirstLaunchWatchTest, ContextsAreWatchedOneByOneAndLaterOnesToo) {
  primary_contexts = {7};
  watch_.On();
  watch_.On();
  EXPECT_EQ(order, std::vector<int>{static_cast<int>(cupti::kKindOverhead)}) << "once";
  primary_contexts = {7, 8};
  watch_.On();
  EXPECT_TRUE(context_kinds_on[7].contains(cupti::kKindOverhead));
  EXPECT_TRUE(context_kinds_on[8].contains(cupti::kKindOverhead));
  watch_.Off();
  EXPECT_TRUE(context_kinds_on[7].empty());
  EXPECT_TRUE(context_kinds_on[8].empty());
  EXPECT_EQ(process_wide_calls, 0);
}

TEST_F(FirstLaunchWatchTest, AfterAnotherClientTookTheBuffersItBeginsAnew) {
  primary_contexts = {7};
  watch_.On();
  order.clear();
  watch_.Lost();
  EXPECT_FALSE(watch_.on());
  watch_.Off();
  EXPECT_TRUE(order.empty()) << "what is on is the other's";
  watch_.On();
  EXPECT_EQ(order, std::vector<int>{static_cast<int>(cupti::kKindOverhead)});
}

TEST_F(FirstLaunchWatchTest, AnOlderCuptiThatSwitchesNoContextsIsLeftAlone) {
  cupti_.activity_enable_context = nullptr;
  cupti_.activity_disable_context = nullptr;
  primary_contexts = {7};
  watch_.On();
  watch_.Off();
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(process_wide_calls, 0);
}

TEST(IsLoading, OfFunctionsAndModulesAndNothingElse) {
  const auto is_loading = [](uint32_t overhead_kind) {
    cupti::OverheadRecord record{};
    record.overhead_kind = overhead_kind;
    return IsLoading(record);
  };
  EXPECT_TRUE(is_loading(5u << 16));
  EXPECT_TRUE(is_loading(4u << 16));
  EXPECT_FALSE(is_loading(7u << 16)) << "of a buffer for records";
  EXPECT_FALSE(is_loading(6u << 16)) << "a full command buffer";
}

}  // namespace
}  // namespace utlz::agent
