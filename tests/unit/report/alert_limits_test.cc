#include "tools/report/alert_limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "collector/diagnosis/alerts.h"

namespace utlz {
namespace {

TEST(AlertLimitsTest, ReadsSharesNumbersAndOff) {
  const auto limits =
      ParseAlertLimits({"sm_active_low=25%", "idle_seconds=300", "temperature=off", "clock_low=off",
                        "idle_seconds=120.5", "memory_growth=1e6"});
  ASSERT_TRUE(limits.ok()) << limits.status();
  EXPECT_DOUBLE_EQ(limits->sm_active_low(), 0.25);
  EXPECT_DOUBLE_EQ(limits->idle_seconds(), 120.5) << "the later word";
  EXPECT_EQ(limits->temperature(), HUGE_VAL);
  EXPECT_EQ(limits->clock_low(), -HUGE_VAL) << "no clock is lower";
  EXPECT_DOUBLE_EQ(limits->memory_growth(), 1e6);
  EXPECT_FALSE(limits->has_busy_high());
  EXPECT_DOUBLE_EQ(ParseAlertLimits({"memory_full=100%"})->memory_full(), 1);
}

TEST(AlertLimitsTest, RefusesWhatItCannotRead) {
  for (const char* word :
       {"", "=", "idle", "idle_seconds", "idle_seconds=", "idle_seconds=60%", "sm_active_low=0.3",
        "sm_active_low=-1%", "sm_active_low=300%", "busy_high=100.1%", "temperature=nan",
        "temperature=inf", "colour=3", "temperature=85C"}) {
    const auto limits = ParseAlertLimits({word});
    ASSERT_FALSE(limits.ok()) << word;
    EXPECT_NE(limits.status().message().find("--alert"), std::string::npos);
  }
}

TEST(AlertLimitsTest, EveryLimitHasANameADefaultAndALineInTheDocument) {
  const AlertLimits defaults = DefaultAlertLimits();
  std::ifstream file(UTLZ_ALERTS_DOCUMENT);
  std::stringstream document;
  document << file.rdbuf();
  const auto* descriptor = AlertLimits::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const std::string name = descriptor->field(i)->name();
    EXPECT_TRUE(defaults.GetReflection()->HasField(defaults, descriptor->field(i))) << name;
    EXPECT_TRUE(ParseAlertLimits({name + "=off"}).ok()) << name;
    EXPECT_NE(document.str().find("| `" + name + "` |"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace utlz
