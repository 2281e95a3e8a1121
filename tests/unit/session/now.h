// The time at which a test begins, in nanoseconds since 1970.
#ifndef UTLZ_TESTS_UNIT_SESSION_NOW_H_
#define UTLZ_TESTS_UNIT_SESSION_NOW_H_

#include <cstdint>

namespace utlz {

inline constexpr uint64_t kNow = 1'795'312'080'000'000'000;

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_SESSION_NOW_H_
