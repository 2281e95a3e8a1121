// What an export found in a profile.
#ifndef UTLZ_TOOLS_EXPORT_TRACE_EXPORT_RESULT_H_
#define UTLZ_TOOLS_EXPORT_TRACE_EXPORT_RESULT_H_

#include <cstdint>

namespace utlz {

struct TraceExportResult {
  uint64_t kernels = 0;
  uint64_t copies = 0;
  uint64_t markers = 0;
  uint64_t counter_values = 0;
  uint64_t frames_refused = 0;  // damaged, or not to be decoded
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_TRACE_EXPORT_RESULT_H_
