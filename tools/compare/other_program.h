// Whether two sides of a comparison may be runs of two programs. Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_OTHER_PROGRAM_H_
#define UTLZ_TOOLS_COMPARE_OTHER_PROGRAM_H_

#include <string>

#include "tools/compare/difference.h"

namespace utlz {

// No kernel in common: times of different programs are no regression, and no improvement.
bool OfDifferentPrograms(const Difference& difference);

// A sentence; empty where the sides look like runs of one program.
std::string OtherProgramText(const Difference& difference);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_OTHER_PROGRAM_H_
