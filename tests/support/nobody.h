// The user and group that own nothing, as whom tests of a second user run.
#ifndef UTLZ_TESTS_SUPPORT_NOBODY_H_
#define UTLZ_TESTS_SUPPORT_NOBODY_H_

#include <sys/types.h>

namespace utlz {

inline constexpr uid_t kNobody = 65534;

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_NOBODY_H_
