// What the file of a libcupti shows before it is loaded. A library that ran is never unloaded: it
// may have left handlers and threads behind, which would then run in memory that is gone. So one
// that will not do must not be loaded in the first place.
#ifndef UTLZ_INJECT_DRIVER_CUPTI_FILE_H_
#define UTLZ_INJECT_DRIVER_CUPTI_FILE_H_

namespace utlz::agent {

enum class CuptiLook {
  kUnreadable,  // no library of this machine whose functions could be listed: the loader says why
  kIncomplete,
  kTooOld,  // none of what came with 12.6 is in it
  kUsable,  // as far as can be seen from outside
};

// Reads the file; runs nothing of it and takes no memory.
CuptiLook LookAtCupti(const char* path);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_DRIVER_CUPTI_FILE_H_
