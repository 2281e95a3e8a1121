// How many descriptors this process has open, to see that none is left behind.
#ifndef UTLZ_TESTS_SUPPORT_OPEN_DESCRIPTORS_H_
#define UTLZ_TESTS_SUPPORT_OPEN_DESCRIPTORS_H_

#include <filesystem>
#include <iterator>

namespace utlz {

inline int CountOpenDescriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<int>(std::distance(begin(open), end(open)));
}

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_OPEN_DESCRIPTORS_H_
