// What documents say of the metrics is what utlz exports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "collector/metrics/metric_table.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::Not;

const std::string kDocuments = UTLZ_DOCUMENTS;

std::set<std::string> AllNames() {
  std::set<std::string> names;
  for (size_t i = 0; i < kMetrics; ++i) names.insert(DescriptionOf(static_cast<Metric>(i)).name);
  return names;
}

// Names of metrics of ours in an expression; those of recording rules have colons.
std::set<std::string> NamesIn(const std::string& text) {
  static const std::regex kName("utlz[a-z_:0-9]*");
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), kName), end; match != end; ++match) {
    names.insert(match->str());
  }
  return names;
}

TEST(Documents, GuideListsEveryMetric) {
  std::string table;
  for (size_t i = 0; i < kMetrics; ++i) {
    const MetricDescription& metric = DescriptionOf(static_cast<Metric>(i));
    const std::string labels = *metric.labels == '\0' ? "" : std::string(" ") + metric.labels;
    table += "| `" + std::string(metric.name) + "` |" + labels + " | " + metric.help + " |\n";
  }
  EXPECT_THAT(ReadWholeFile(kDocuments + "/guide/metrics.md"), HasSubstr(table))
      << "the table must be:\n"
      << table;
}

TEST(Documents, EveryQueryOfTheDashboardNamesWhatIsExported) {
  const auto dashboard =
      nlohmann::json::parse(ReadWholeFile(kDocuments + "/monitoring/grafana_dashboard.json"));
  std::set<std::string> shown;
  int queries = 0;
  for (const auto& panel : dashboard.at("panels")) {
    for (const auto& target : panel.at("targets")) {
      const std::string query = target.at("expr");
      ++queries;
      EXPECT_THAT(NamesIn(query), IsSubsetOf(AllNames())) << query;
      shown.merge(NamesIn(query));
    }
  }
  for (const auto& variable : dashboard.at("templating").at("list")) {
    if (variable.at("type") == "query") {
      EXPECT_THAT(NamesIn(variable.at("query")), IsSubsetOf(AllNames()));
    }
  }
  EXPECT_GT(queries, 20);
  // What a team looks for first when a GPU or a server misbehaves.
  EXPECT_THAT(
      std::set<std::string>({"utlz_gpu_memory_used_bytes", "utlz_gpu_memory_size_bytes",
                             "utlz_gpu_temperature_celsius", "utlz_clock_limited_seconds_total",
                             "utlz_app_requests_running", "utlz_app_requests_per_second"}),
      IsSubsetOf(shown));
}

TEST(Documents, EveryPanelOfTheDashboardHasAUnitAndAPlaceOfItsOwn) {
  const auto dashboard =
      nlohmann::json::parse(ReadWholeFile(kDocuments + "/monitoring/grafana_dashboard.json"));
  std::set<std::pair<int, int>> places;
  std::set<int> ids;
  for (const auto& panel : dashboard.at("panels")) {
    const auto& place = panel.at("gridPos");
    EXPECT_TRUE(places.emplace(place.at("x"), place.at("y")).second) << panel.at("title");
    EXPECT_TRUE(ids.insert(panel.at("id").get<int>()).second) << panel.at("title");
    EXPECT_THAT(panel.at("fieldConfig").at("defaults").at("unit").get<std::string>(),
                Not(IsEmpty()))
        << panel.at("title");
  }
}

TEST(Documents, RulesNameWhatIsExportedOrRecorded) {
  const std::string rules = ReadWholeFile(kDocuments + "/monitoring/rules.yml");
  std::set<std::string> known = AllNames();
  known.insert({"utlz", "utlz_alerts"});  // the groups
  static const std::regex kRecord("record: (utlz[a-z_:0-9]*)");
  for (std::sregex_iterator match(rules.begin(), rules.end(), kRecord), end; match != end;
       ++match) {
    known.insert((*match)[1]);
  }
  EXPECT_GT(known.size(), kMetrics + 2);
  EXPECT_THAT(NamesIn(rules), IsSubsetOf(known));
}

}  // namespace
}  // namespace utlz
