// Which sanitizer the tests are built with, for what cannot run under it.
#ifndef UTLZ_TESTS_SUPPORT_SANITIZERS_H_
#define UTLZ_TESTS_SUPPORT_SANITIZERS_H_

namespace utlz {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_SANITIZERS_H_
