// Which program the name utlz starts: other projects have one of that name too.
#ifndef UTLZ_TOOLS_UTLZ_PATH_FACT_H_
#define UTLZ_TOOLS_UTLZ_PATH_FACT_H_

#include <string>

#include "collector/sampler/doctor/doctor_facts.h"

namespace utlz {

// `path` is the value of PATH, `own_program` this program's file.
DoctorFact PathFact(const std::string& path, const std::string& own_program);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_PATH_FACT_H_
