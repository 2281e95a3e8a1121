// Limits of alerts as people write them.
#ifndef UTLZ_TOOLS_REPORT_ALERT_LIMITS_H_
#define UTLZ_TOOLS_REPORT_ALERT_LIMITS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/profile.pb.h"

namespace utlz {

// Each word is NAME=VALUE: the name a field of AlertLimits; the value a percentage for shares, else
// a number, or "off". A later word goes before an earlier one. InvalidArgument names the word and
// what is wrong with it.
absl::StatusOr<AlertLimits> ParseAlertLimits(const std::vector<std::string>& words);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_ALERT_LIMITS_H_
