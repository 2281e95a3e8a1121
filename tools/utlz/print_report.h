// The text report, on the terminal or in the file that a stream leads to.
#ifndef UTLZ_TOOLS_UTLZ_PRINT_REPORT_H_
#define UTLZ_TOOLS_UTLZ_PRINT_REPORT_H_

#include <cstdio>

#include "proto/summary.pb.h"

namespace utlz {

void PrintReport(const Summary& summary, std::FILE* stream);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_PRINT_REPORT_H_
