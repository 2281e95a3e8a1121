// The report as one HTML file: everything inside it, no request to anywhere.
//
// The page (tools/report_html/web, built into assets/report.html) is the same for every profile;
// the summary travels in it as JSON. Names come from profiled programs and are hostile: they are
// escaped so that no byte of them can end the JSON element, and the page shows them as text only.
//
// Both functions are pure and safe to call from several threads at once.
#ifndef UTLZ_TOOLS_REPORT_HTML_REPORT_HTML_H_
#define UTLZ_TOOLS_REPORT_HTML_REPORT_HTML_H_

#include <string>

#include "proto/summary.pb.h"

namespace utlz {

std::string RenderHtml(const Summary& summary);

// `after` is the report's subject; `before` is laid over it, with the difference between the two.
std::string RenderHtmlComparison(const Summary& before, const Summary& after);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_HTML_REPORT_HTML_H_
