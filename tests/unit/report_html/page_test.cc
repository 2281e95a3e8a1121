#include "tools/report_html/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/report_html/pack.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PageTest, EscapesWhatCouldEndTheElement) {
  EXPECT_EQ(EscapeJsonForHtml("{\"a\":\"</script><!--&\"}"),
            "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\"}");
  EXPECT_EQ(EscapeJsonForHtml("\xe2\x80\xa8|\xe2\x80\xa9|\xe2\x80\xaa|µ"),
            "\\u2028|\\u2029|\xe2\x80\xaa|µ");
  EXPECT_EQ(EscapeJsonForHtml("\xe2\x80"), "\xe2\x80");
}

TEST(PageTest, FillsEveryPlace) {
  const std::string page = MakePage({"{\"one\":1}", "{\"two\":2}", "{\"three\":3}"});
  EXPECT_THAT(page, HasSubstr(">{\"one\":1}</script>"));
  EXPECT_THAT(page, HasSubstr(">{\"two\":2}</script>"));
  EXPECT_THAT(page, HasSubstr(">{\"three\":3}</script>"));
  EXPECT_THAT(page, Not(HasSubstr("__UTLZ_SUMMARY__")));
}

TEST(PageTest, NamesThatLookLikePlacesStayNames) {
  const std::string page = MakePage({"[\"__UTLZ_BEFORE__\"]", "{\"two\":2}", ""});
  EXPECT_THAT(page, HasSubstr("[\"__UTLZ_BEFORE__\"]"));
  EXPECT_THAT(page, HasSubstr("id=\"before\">{\"two\":2}</script>"));
}

TEST(PageTest, LargeDataIsPacked) {
  EXPECT_EQ(PackJson("{}"), "{}");
  const std::string large = "[\"" + std::string(4 << 20, 'x') + "\"]";
  const std::string packed = PackJson(large);
  EXPECT_THAT(packed, testing::StartsWith("{\"deflate\":\"eJ"));
  EXPECT_LT(packed.size(), large.size() / 100);
  EXPECT_THAT(MakePage({large, "", ""}), HasSubstr(packed.substr(0, 100)));
}

TEST(PageTest, Base64OfTheStandard) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("\xff\xfe\xfd"), "//79");
}

TEST(PageTest, IsSmallAndAsksNothingOfTheNetwork) {
  const std::string_view page = PageTemplate();
  EXPECT_LT(page.size(), 2u << 20);
  EXPECT_THAT(std::string(page), HasSubstr("default-src 'none'"));
  for (const char* request : {" src=\"http", "href=\"http", "url(http", "@import", "fetch(",
                              "XMLHttpRequest", "sendBeacon", "WebSocket"}) {
    EXPECT_EQ(page.find(request), std::string_view::npos) << request;
  }
}

}  // namespace
}  // namespace utlz
