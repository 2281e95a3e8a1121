// Units of time in nanoseconds.
#ifndef UTLZ_TESTS_SUPPORT_NANOSECONDS_H_
#define UTLZ_TESTS_SUPPORT_NANOSECONDS_H_

#include <cstdint>

namespace utlz {

inline constexpr uint64_t kMillisecondNs = 1'000'000;
inline constexpr uint64_t kSecondNs = 1000 * kMillisecondNs;

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_NANOSECONDS_H_
