// The report of a history as text, a block a job and a line a run. Pure, thread-safe.
#ifndef UTLZ_TOOLS_HISTORY_REPORT_HISTORY_TEXT_H_
#define UTLZ_TOOLS_HISTORY_REPORT_HISTORY_TEXT_H_

#include <string>

#include "proto/history.pb.h"

namespace utlz {

struct HistoryTextOptions {
  size_t columns = 100;
  bool color = false;
  size_t most_runs = 20;  // of a job: the last ones
};

std::string RenderHistory(const HistoryReport& report, const HistoryTextOptions& options);
std::string RenderHistoryJson(const HistoryReport& report);

}  // namespace utlz

#endif  // UTLZ_TOOLS_HISTORY_REPORT_HISTORY_TEXT_H_
