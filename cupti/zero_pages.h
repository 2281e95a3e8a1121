// CUPTI's libnvperf libraries write over 100 MB of their own data each when they are loaded, two
// thirds of it with zeros: pages that are resident and say nothing.
#ifndef UTLZ_CUPTI_ZERO_PAGES_H_
#define UTLZ_CUPTI_ZERO_PAGES_H_

#include <stddef.h>

namespace utlz {

// Opens a library of CUPTI's by its path; where it was not loaded before, gives the pages of its
// uninitialized data (.bss) that hold zeros alone back to the kernel: they read as zeros afterwards
// too. Returns the library, or null where it cannot be loaded.
//
// What another thread writes into such a page in the microseconds between a look and its release
// would be lost. Nobody writes there before calling something in the library, which is new to the
// process. Uses the dynamic loader; neither from a callback nor from a signal handler.
void* OpenWithoutZeroPages(const char* path, int flags);

// The release alone. Returns how many bytes lie in such pages, 0 where the data cannot be found.
size_t ReleaseZeroPages(void* library);

}  // namespace utlz

#endif  // UTLZ_CUPTI_ZERO_PAGES_H_
