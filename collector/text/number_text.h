// Numbers in the sentences of a summary.
#ifndef UTLZ_COLLECTOR_TEXT_NUMBER_TEXT_H_
#define UTLZ_COLLECTOR_TEXT_NUMBER_TEXT_H_

#include <string>

namespace utlz {

// "12.3 %" of a share of 0.123.
std::string PercentText(double share);
// Three digits and a prefix from k to E: "949 TFLOP/s", "3.57 GB", "202 M" of an empty unit.
std::string PrefixedText(double value, const char* unit);
// Three digits: "1.75 ms".
std::string TimeText(double time_ns);
// A whole number: "25,002".
std::string CountText(double count);
// The same of three digits: "14,200" of 14,216.
std::string RoundCountText(double count);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_NUMBER_TEXT_H_
