#include "tools/report_html/page.h"

#include "tools/report_html/pack.h"

namespace utlz {
namespace {

struct Place {
  std::string_view mark;
  std::string_view PageData::*json;
};
// In the order in which they stand in the page.
constexpr Place kPlaces[] = {
    {"__UTLZ_SUMMARY__", &PageData::summary_json},
    {"__UTLZ_BEFORE__", &PageData::before_json},
    {"__UTLZ_DIFFERENCE__", &PageData::difference_json},
};

constexpr std::string_view kLineSeparator = "\xe2\x80\xa8";
constexpr std::string_view kParagraphSeparator = "\xe2\x80\xa9";

}  // namespace

std::string EscapeJsonForHtml(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size() + json.size() / 16);
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view three = json.substr(i, 3);
    if (json[i] == '<') {
      escaped += "\\u003c";
    } else if (json[i] == '>') {
      escaped += "\\u003e";
    } else if (json[i] == '&') {
      escaped += "\\u0026";
    } else if (three == kLineSeparator || three == kParagraphSeparator) {
      escaped += three == kLineSeparator ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      escaped += json[i];
    }
  }
  return escaped;
}

// Places are looked for in the template alone: a name in the data that looks like one stays a name.
std::string MakePage(const PageData& data) {
  const std::string_view page = PageTemplate();
  std::string result;
  size_t done = 0;
  for (const Place& place : kPlaces) {
    const size_t at = page.find(place.mark, done);
    if (at == std::string_view::npos) continue;
    result += page.substr(done, at - done);
    result += EscapeJsonForHtml(PackJson(data.*place.json));
    done = at + place.mark.size();
  }
  result += page.substr(done);
  return result;
}

}  // namespace utlz
