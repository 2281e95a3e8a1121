// A library that was needed for half a second stays resident: its code and constants count as
// memory of the process for as long as it is loaded, although nobody reads them again.
#ifndef UTLZ_CUPTI_FILE_PAGES_H_
#define UTLZ_CUPTI_FILE_PAGES_H_

#include <stddef.h>

namespace utlz {

// Is a library loaded whose file's name begins so, for example "libnvperf_host.so"?
bool IsLoaded(const char* name);

// Gives back the pages of such a library that are read only and come from its file; who needs one
// again finds it there, at the cost of a page fault. Does nothing to a library whose code the
// loader had to write to. A debugger's breakpoints in it would be lost. Returns the bytes of these
// pages, resident or not, 0 where no such library is loaded.
//
// Uses the dynamic loader; neither from a callback nor from a signal handler.
size_t ReleaseFilePages(const char* name);

}  // namespace utlz

#endif  // UTLZ_CUPTI_FILE_PAGES_H_
