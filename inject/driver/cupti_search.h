// The copies of libcupti that the process has, or may have. Everything here uses the dynamic
// loader.
#ifndef UTLZ_INJECT_DRIVER_CUPTI_SEARCH_H_
#define UTLZ_INJECT_DRIVER_CUPTI_SEARCH_H_

#include <cstddef>

namespace utlz::agent {

// The copy that is loaded already, or null.
void* LoadedCupti();

// Loads the one of the wheel beside the target's Python, else the toolkit's, else the one that
// `utlz run` found for those who have none. Null where there is no such.
void* OpenFoundCupti();

inline constexpr size_t kMaxCuptiPathBytes = 1024;

struct CuptiFile {
  char path[kMaxCuptiPathBytes];   // by which the dynamic loader finds it
  char shown[kMaxCuptiPathBytes];  // for people
};

// The file behind a descriptor: under its own path where that leads to it from here too, so that
// what lies beside it is found; else through the descriptor.
void FindFile(int descriptor, CuptiFile* file);

// Whether the process has a libcupti beside `library`; its path is written to `path`.
bool FindOtherCupti(void* library, char (*path)[kMaxCuptiPathBytes]);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_DRIVER_CUPTI_SEARCH_H_
