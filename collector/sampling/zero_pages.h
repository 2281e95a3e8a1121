// CUPTI's libnvperf libraries write over 100 MB of their own data each when they are loaded, two
// thirds of it with zeros: pages that are resident and say nothing.
#ifndef UTLZ_COLLECTOR_SAMPLING_ZERO_PAGES_H_
#define UTLZ_COLLECTOR_SAMPLING_ZERO_PAGES_H_

#include <cstddef>

namespace utlz {

// Gives the pages of a library's uninitialized data (.bss) that hold zeros alone back to the
// kernel; they read as zeros afterwards too. Returns how many bytes lie in them, 0 where the
// library's data cannot be found. A write by another thread meanwhile could be lost: only for a
// library that was opened just now, before anything in it is called.
size_t ReleaseZeroPages(void* library);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLING_ZERO_PAGES_H_
