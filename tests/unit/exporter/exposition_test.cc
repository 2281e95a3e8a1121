#include "tools/exporter/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

MetricsSnapshot SomeSnapshot() {
  MetricsSnapshot snapshot;
  snapshot.Add(Metric::kEnergyJoules, {{"gpu", "0"}, {"modelName", "a \"b\" \\ c\nd"}}, 1234.5);
  snapshot.Add(Metric::kHfu, {}, 0.25);
  return snapshot;
}

TEST(Exposition, Text) {
  const std::string help = DescriptionOf(Metric::kEnergyJoules).help;
  const std::string page = WritePage(SomeSnapshot(), PageFormat::kText);
  EXPECT_EQ(
      page.substr(0, page.find("# HELP utlz_hfu")),
      "# HELP utlz_energy_joules_total " + help +
          "\n# TYPE utlz_energy_joules_total counter\n"
          "utlz_energy_joules_total{gpu=\"0\",modelName=\"a \\\"b\\\" \\\\ c\\nd\"} 1234.5\n");
  EXPECT_THAT(page, HasSubstr("# TYPE utlz_hfu_ratio gauge\nutlz_hfu_ratio 0.25\n"));
  EXPECT_THAT(page, Not(HasSubstr("EOF")));
}

TEST(Exposition, OpenMetrics) {
  const std::string help = DescriptionOf(Metric::kEnergyJoules).help;
  const std::string page = WritePage(SomeSnapshot(), PageFormat::kOpenMetrics);
  EXPECT_EQ(page.substr(0, page.find("utlz_energy_joules_total{")),
            "# TYPE utlz_energy_joules counter\n# UNIT utlz_energy_joules joules\n"
            "# HELP utlz_energy_joules " +
                help + "\n");
  EXPECT_TRUE(page.ends_with("utlz_hfu_ratio 0.25\n# EOF\n")) << page;
}

TEST(Exposition, NothingKnown) {
  EXPECT_EQ(WritePage({}, PageFormat::kText), "");
  EXPECT_EQ(WritePage({}, PageFormat::kOpenMetrics), "# EOF\n");
}

TEST(Exposition, NumbersThatAreNone) {
  MetricsSnapshot snapshot;
  snapshot.Add(Metric::kHfu, {}, std::numeric_limits<double>::quiet_NaN());
  snapshot.Add(Metric::kHfu, {}, std::numeric_limits<double>::infinity());
  const std::string page = WritePage(snapshot, PageFormat::kText);
  EXPECT_THAT(page, HasSubstr("ratio NaN\n"));
  EXPECT_THAT(page, HasSubstr("ratio +Inf\n"));
}

TEST(ChooseFormat, ByTheAcceptHeader) {
  EXPECT_EQ(ChooseFormat(""), PageFormat::kText);
  EXPECT_EQ(ChooseFormat("*/*"), PageFormat::kText);
  EXPECT_EQ(ChooseFormat("text/html, application/xhtml+xml;q=0.9"), PageFormat::kText);
  EXPECT_EQ(ChooseFormat("application/openmetrics-text"), PageFormat::kOpenMetrics);
  EXPECT_EQ(ChooseFormat("application/openmetrics-text;version=1.0.0,"
                         "application/openmetrics-text;version=0.0.1;q=0.75,"
                         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            PageFormat::kOpenMetrics)
      << "as Prometheus 2.42 asks";
  EXPECT_EQ(ChooseFormat("text/plain;version=0.0.4, application/openmetrics-text ; q=0.3"),
            PageFormat::kText);
  EXPECT_EQ(ChooseFormat("application/openmetrics-text;q=0"), PageFormat::kText);
  EXPECT_EQ(ChooseFormat("application/openmetrics-text;version=9.0.0"), PageFormat::kText);
  EXPECT_EQ(ChooseFormat("Application/OpenMetrics-Text;Q=1.0"), PageFormat::kOpenMetrics);
  EXPECT_EQ(ChooseFormat(",;=;q=x,,application/openmetrics-text;q=2"), PageFormat::kText);
}

}  // namespace
}  // namespace utlz
