// Numbers in the sentences of a summary.
#ifndef UTLZ_COLLECTOR_MODEL_NUMBER_TEXT_H_
#define UTLZ_COLLECTOR_MODEL_NUMBER_TEXT_H_

#include <string>

namespace utlz {

// "12.3 %" of a share of 0.123.
std::string PercentText(double share);
// Four digits: "1.234e+15".
std::string NumberText(double value);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_NUMBER_TEXT_H_
