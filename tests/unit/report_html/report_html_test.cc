#include "tools/report_html/report_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The JSON of one of the page's data elements.
nlohmann::json DataOf(const std::string& page, const std::string& id) {
  const std::string opening = "<script type=\"application/json\" id=\"" + id + "\">";
  const size_t start = page.find(opening) + opening.size();
  return nlohmann::json::parse(page.substr(start, page.find("</script>", start) - start));
}

Summary OneKernel(const std::string& name, double time_ns) {
  Summary summary;
  summary.set_verdict("Busy.");
  KernelSummary* kernel = summary.add_kernels();
  kernel->set_short_name(name);
  kernel->set_mangled_name("f");
  kernel->set_launches(10);
  kernel->set_time_ns(time_ns);
  summary.mutable_run()->set_wall_ns(1'000'000);
  summary.add_timeline()->add_value(std::nan(""));
  return summary;
}

TEST(ReportHtmlTest, HoldsTheSummary) {
  const auto data = DataOf(RenderHtml(OneKernel("gemm", 5e5)), "summary");
  EXPECT_EQ(data["verdict"], "Busy.");
  EXPECT_EQ(data["kernels"][0]["short_name"], "gemm");
  EXPECT_TRUE(data["timeline"][0]["value"][0].is_null());
}

TEST(ReportHtmlTest, HostileNamesStayInsideTheirElement) {
  const std::string name = "</script><script>alert(1)</script>\xff\xe2\x80\xa8";
  const std::string page = RenderHtml(OneKernel(name, 5e5));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_EQ(DataOf(page, "summary")["kernels"][0]["short_name"],
            "</script><script>alert(1)</script>\xef\xbf\xbd\xe2\x80\xa8");
}

TEST(ReportHtmlTest, AComparisonHoldsBothSidesAndTheirDifference) {
  const std::string page = RenderHtmlComparison(OneKernel("old", 5e5), OneKernel("new", 9e5));
  EXPECT_EQ(DataOf(page, "before")["kernels"][0]["short_name"], "old");
  EXPECT_EQ(DataOf(page, "summary")["kernels"][0]["short_name"], "new");
  EXPECT_EQ(DataOf(page, "difference")["kernels"][0]["time_ns"]["verdict"], "increase");
}

}  // namespace
}  // namespace utlz
