// Puts JSON into the report page (assets/report.html). Pure, thread-safe.
#ifndef UTLZ_TOOLS_REPORT_HTML_PAGE_H_
#define UTLZ_TOOLS_REPORT_HTML_PAGE_H_

#include <string>
#include <string_view>

namespace utlz {

struct PageData {
  std::string_view summary_json;
  std::string_view before_json;      // empty without a comparison
  std::string_view difference_json;  // empty without a comparison
};

std::string MakePage(const PageData& data);

// `json` as it may stand inside an HTML script element: <, >, & and the line separators U+2028 and
// U+2029 as \u escapes. In valid JSON they occur inside strings only, so its meaning stays.
std::string EscapeJsonForHtml(std::string_view json);

// The built page with its three places still empty.
std::string_view PageTemplate();

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_HTML_PAGE_H_
