// How good a capture is, and what part of the run its shares are of, in words: the same in every
// report that people read. Not escaped.
#ifndef UTLZ_TOOLS_REPORT_CAPTURE_TEXT_H_
#define UTLZ_TOOLS_REPORT_CAPTURE_TEXT_H_

#include <string>
#include <vector>

#include "proto/summary.pb.h"

namespace utlz {

// Where the numbers come from, samples, launches, drops, coverage, clocks, cost.
std::string DescribeCapture(const Summary& summary);
// Sentences about what is missing or not to be trusted; none where nothing is.
std::vector<std::string> CaptureWarnings(const Summary& summary);
// What part of the run the shares are of; nothing where that is all of it.
std::string DescribeWindow(const SteadyStateSummary& window);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_CAPTURE_TEXT_H_
