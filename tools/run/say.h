// What commands say on standard error, to the person who ran them.
#ifndef UTLZ_TOOLS_RUN_SAY_H_
#define UTLZ_TOOLS_RUN_SAY_H_

#include <cstdio>
#include <string>

#include "absl/status/status.h"

namespace utlz {

// A line of its own. Safe to call from any thread.
inline void Say(const std::string& sentence) {
  std::fprintf(stderr, "utlz: %s\n", sentence.c_str());
}

// Says why; returns `exit_status`.
inline int Fail(const absl::Status& status, int exit_status = 1) {
  Say(std::string(status.message()));
  return exit_status;
}

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_SAY_H_
