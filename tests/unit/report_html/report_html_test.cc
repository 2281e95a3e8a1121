#include "tools/report_html/report_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tools/report/json.h"

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

// What the page makes of packed data: base64, then zlib.
std::string Unpacked(const std::string& text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char digit : text) {
    if (digit == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kDigits.find(digit));
    if ((count += 6) < 8) continue;
    bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  std::string unpacked(64 << 20, '\0');
  uLongf size = unpacked.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(unpacked.data()), &size,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
            Z_OK);
  unpacked.resize(size);
  return unpacked;
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

TEST(ReportHtmlTest, NumbersAreThoseOfTheJsonReport) {
  Summary summary = OneKernel("gemm", 5e5 / 3);
  summary.mutable_capture()->set_steady_state_slowdown_share(1.0 / 7);
  summary.mutable_run()->set_start_time_ns(1'795'312'080'123'456'789);
  EXPECT_EQ(DataOf(RenderHtml(summary), "summary"), nlohmann::json::parse(RenderJson(summary)));
  for (int i = 0; i < 4000; ++i) *summary.add_kernels() = OneKernel("k", 1e9 / (i + 3)).kernels(0);
  const auto packed = DataOf(RenderHtml(summary), "summary");
  ASSERT_TRUE(packed.contains("deflate")) << "so much is packed";
  EXPECT_EQ(nlohmann::json::parse(Unpacked(packed["deflate"])),
            nlohmann::json::parse(RenderJson(summary)));
}

TEST(ReportHtmlTest, HostileNamesStayInsideTheirElement) {
  const std::string name = "</script><script>alert(1)</script>\xff\xe2\x80\xa8";
  const std::string page = RenderHtml(OneKernel(name, 5e5));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_EQ(DataOf(page, "summary")["kernels"][0]["short_name"],
            "</script><script>alert(1)</script>\xef\xbf\xbd\xe2\x80\xa8");
}

TEST(ReportHtmlTest, CarriesTheLicencesOfTheLibrariesInIt) {
  const std::string page = RenderHtml(OneKernel("gemm", 5e5));
  const std::string notices = page.substr(page.rfind("</html>"));
  for (const char* library : {"d3-array", "d3-color", "d3-format", "d3-scale", "preact", "uplot"}) {
    EXPECT_THAT(notices, HasSubstr("==== " + std::string(library) + " "));
  }
  EXPECT_THAT(notices, HasSubstr("Jason Miller"));
  EXPECT_THAT(notices, HasSubstr("Leon Sorokin"));
  EXPECT_THAT(notices, HasSubstr("Mike Bostock"));
}

TEST(ReportHtmlTest, AComparisonHoldsBothSidesAndTheirDifference) {
  const std::string page = RenderHtmlComparison(OneKernel("old", 5e5), OneKernel("new", 9e5));
  EXPECT_EQ(DataOf(page, "before")["kernels"][0]["short_name"], "old");
  EXPECT_EQ(DataOf(page, "summary")["kernels"][0]["short_name"], "new");
  EXPECT_EQ(DataOf(page, "difference")["kernels"][0]["time_ns"]["verdict"], "increase");
}

}  // namespace
}  // namespace utlz
