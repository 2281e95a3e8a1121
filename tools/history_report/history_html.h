// The report of a history as one HTML file: no script, no request to anywhere. Trends of each job
// over its runs as charts, and a line a run. Names are hostile: they stand in it as text only.
// Pure, thread-safe.
#ifndef UTLZ_TOOLS_HISTORY_REPORT_HISTORY_HTML_H_
#define UTLZ_TOOLS_HISTORY_REPORT_HISTORY_HTML_H_

#include <string>

#include "proto/history.pb.h"

namespace utlz {

struct HistoryHtmlOptions {
  int most_runs = 200;  // of a job in its table: the last ones; its charts have all
};

std::string RenderHistoryHtml(const HistoryReport& report, const HistoryHtmlOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_HISTORY_REPORT_HISTORY_HTML_H_
