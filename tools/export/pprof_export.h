// A profile as pprof's samples: kernels as leaves, the stacks that launched them and the NVTX
// ranges that they were launched in as their callers, with GPU time, idle time before them, FLOPs,
// DRAM bytes and launches.
//
// The sums over all samples are the report's totals exactly: what the report has of a kernel is
// divided among the places from which its launches came, in proportion to what was traced of each.
#ifndef UTLZ_TOOLS_EXPORT_PPROF_EXPORT_H_
#define UTLZ_TOOLS_EXPORT_PPROF_EXPORT_H_

#include <ostream>

#include "collector/profile/profile_reader.h"
#include "proto/summary.pb.h"
#include "tools/export/trace_export_result.h"

namespace utlz {

struct PprofOptions {
  bool counters = true;  // FLOPs and bytes too
  bool paths = true;     // folders of source files, where stacks have any
};

// Reads the profile thrice, from its first frame. What cannot be written fails `out`.
TraceExportResult WritePprof(const Summary& summary, const PprofOptions& options,
                             ProfileReader* reader, std::ostream* out);

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_PPROF_EXPORT_H_
