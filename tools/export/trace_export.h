// Writes a profile for other viewers: as a trace (kernels and copies by stream, NVTX ranges, device
// counters), or as pprof's samples.
//
// The profile is read as a stream; memory does not grow with its length. What the profile holds was
// written by other processes: names are escaped or length-prefixed, numbers are taken as they are.
#ifndef UTLZ_TOOLS_EXPORT_TRACE_EXPORT_H_
#define UTLZ_TOOLS_EXPORT_TRACE_EXPORT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/export/trace_export_result.h"

namespace utlz {

enum class TraceFormat {
  kPerfetto,  // Perfetto's protobuf; ui.perfetto.dev and trace_processor open it
  kChrome,    // trace event JSON; Perfetto and chrome://tracing open it
  kPprof,     // pprof's samples, of all of the run; `go tool pprof` and speedscope open it
};

struct TraceExportOptions {
  // Seconds since the run's start, as reports give them. What overlaps the stretch is kept, whole.
  std::optional<double> from_s;
  std::optional<double> to_s;
  bool counters = true;
  bool paths = true;     // folders of source files
  bool replace = false;  // a file that is there; never a profile
};

// A path that means standard output, whatever that is: a pipe, or a file that is open already.
inline constexpr std::string_view kStandardOutput = "-";

// Exports the profile at `profile_path` to `trace_path`.
// Errors: NotFound or InvalidArgument for the profile or the options, AlreadyExists where a file is
// there that may not be replaced, Unavailable where the trace cannot be written.
absl::StatusOr<TraceExportResult> ExportTrace(const std::string& profile_path, TraceFormat format,
                                              const std::string& trace_path,
                                              const TraceExportOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_TRACE_EXPORT_H_
