// The report for programs: Summary as JSON, the contract of docs/reference/report_json.md. Field
// names are the schema's, enumerations lower-case words without prefix ("sampled", "memory"),
// 64-bit integers JSON numbers; what is not known is absent, and so is a number that is not finite.
#ifndef UTLZ_TOOLS_REPORT_JSON_H_
#define UTLZ_TOOLS_REPORT_JSON_H_

#include <string>

#include "proto/summary.pb.h"

namespace utlz {

struct JsonOptions {
  int indent = 2;  // −1 = one line
};

// Invalid UTF-8 is replaced, so that the result is always valid JSON. Ends with a newline.
std::string RenderJson(const Summary& summary, const JsonOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_JSON_H_
