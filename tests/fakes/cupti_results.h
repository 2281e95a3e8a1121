// Result codes of CUPTI that the fake returns.
#ifndef UTLZ_TESTS_FAKES_CUPTI_RESULTS_H_
#define UTLZ_TESTS_FAKES_CUPTI_RESULTS_H_

#include <cstdint>

namespace utlz::fake {

using CuptiResult = int32_t;
inline constexpr CuptiResult kCuptiSuccess = 0;
inline constexpr CuptiResult kCuptiInvalidParameter = 1;
inline constexpr CuptiResult kCuptiInvalidDevice = 2;
inline constexpr CuptiResult kCuptiInvalidContext = 3;
inline constexpr CuptiResult kCuptiInvalidOperation = 7;
inline constexpr CuptiResult kCuptiOutOfMemory = 8;
inline constexpr CuptiResult kCuptiMaxLimitReached = 12;
inline constexpr CuptiResult kCuptiNotInitialized = 15;
inline constexpr CuptiResult kCuptiHardwareBusy = 26;
inline constexpr CuptiResult kCuptiNotSupported = 27;
inline constexpr CuptiResult kCuptiInsufficientPrivileges = 35;
inline constexpr CuptiResult kCuptiMultipleSubscribers = 39;
inline constexpr CuptiResult kCuptiMigNotSupported = 43;
inline constexpr CuptiResult kCuptiInvalidChipName = 46;
inline constexpr CuptiResult kCuptiUnknown = 999;

// What the scenario arranges for a call of `function`: kCuptiSuccess to go on.
CuptiResult ArrangedResult(const char* function);

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_CUPTI_RESULTS_H_
