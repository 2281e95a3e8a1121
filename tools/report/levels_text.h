// How many steps a run has, in one sentence, for every form of the report.
#ifndef UTLZ_TOOLS_REPORT_LEVELS_TEXT_H_
#define UTLZ_TOOLS_REPORT_LEVELS_TEXT_H_

#include <string>

#include "proto/summary.pb.h"

namespace utlz {

// "Steps: 896, 64 in each of 14 calls of 928 ms; …", or that none were found. Nothing where there
// are too few launches for steps. Not escaped.
std::string DescribeLevels(const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_LEVELS_TEXT_H_
