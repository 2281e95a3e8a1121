#include "collector/metrics/metric_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace utlz {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// promtool checks the same of a page; this is where promtool is missing.
TEST(MetricTable, NamesFollowPrometheus) {
  std::set<std::string> names;
  for (size_t i = 0; i < kMetrics; ++i) {
    const MetricDescription& metric = DescriptionOf(static_cast<Metric>(i));
    ASSERT_NE(metric.name, nullptr) << "row " << i << " is missing";
    const std::string name = metric.name;
    SCOPED_TRACE(name);
    EXPECT_TRUE(names.insert(name).second) << "twice";
    EXPECT_THAT(name, StartsWith("utlz_"));
    EXPECT_TRUE(std::all_of(name.begin(), name.end(),
                            [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; }));
    const bool counter = metric.type == MetricType::kCounter;
    EXPECT_EQ(name.ends_with("_total"), counter);
    const std::string base = counter ? name.substr(0, name.size() - 6) : name;
    EXPECT_THAT(base, EndsWith(metric.unit));
    for (const char* unit : {"_seconds", "_bytes", "_joules", "_ratio"}) {
      EXPECT_EQ(base.ends_with(unit), std::string("_") + metric.unit == unit);
    }
    EXPECT_THAT(metric.help, EndsWith("."));
    EXPECT_THAT(std::string(metric.help), Not(HasSubstr("\\")));
  }
}

}  // namespace
}  // namespace utlz
