#include "tools/export/trace_export.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collector/files/output_file.h"
#include "collector/files/output_stream.h"
#include "collector/profile/profile_reader.h"
#include "tools/export/chrome_sink.h"
#include "tools/export/node_stacks.h"
#include "tools/export/perfetto_sink.h"
#include "tools/export/pprof_export.h"
#include "tools/export/profile_tracer.h"
#include "tools/export/trace_selection.h"
#include "tools/replay/replay.h"

namespace utlz {
namespace {

std::unique_ptr<TraceSink> MakeSink(TraceFormat format, uint64_t run_start_ns, std::ostream& out) {
  if (format == TraceFormat::kPerfetto) return std::make_unique<PerfettoSink>(out);
  return std::make_unique<ChromeSink>(out, run_start_ns);
}

uint64_t Nanoseconds(double seconds) {
  return seconds < 1e9 ? static_cast<uint64_t>(seconds * 1e9) : uint64_t{1'000'000'000'000'000'000};
}

absl::StatusOr<TraceSelection> SelectionOf(const TraceExportOptions& options,
                                           uint64_t run_start_ns) {
  TraceSelection selection;
  selection.counters = options.counters;
  if (!options.from_s && !options.to_s) return selection;
  if (run_start_ns == 0) {
    return absl::InvalidArgumentError(
        "the profile does not say when its run began, so no time range can be told; export all "
        "of it");
  }
  if (options.from_s) selection.from_ns = run_start_ns + Nanoseconds(*options.from_s);
  if (options.to_s) selection.to_ns = run_start_ns + Nanoseconds(*options.to_s);
  if (selection.from_ns >= selection.to_ns) {
    return absl::InvalidArgumentError("the time range is empty: it begins at or after its end");
  }
  return selection;
}

// Pipes and terminals are written to as they are.
bool IsFile(const std::string& path) {
  struct stat there = {};
  return stat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode);
}

TraceExportResult Less(TraceExportResult all, const TraceExportResult& left_out) {
  all.kernels -= left_out.kernels;
  all.copies -= left_out.copies;
  all.markers -= left_out.markers;
  all.counter_values -= left_out.counter_values;
  return all;
}

TraceExportResult WriteTrace(const Summary& summary, TraceFormat format,
                             const TraceSelection& selection, ProfileReader* reader,
                             std::ostream* out) {
  const std::unique_ptr<TraceSink> sink = MakeSink(format, summary.run().start_time_ns(), *out);
  SelectingSink selecting(sink.get(), selection);
  NodeStacks node_stacks(reader);
  ProfileTracer tracer(&selecting, summary, &node_stacks);
  tracer.Begin();
  FrameView frame;
  while (*out && reader->Next(&frame)) tracer.Consume(frame.source, frame.type, frame.payload);
  tracer.End();
  return Less(tracer.result(), selecting.left_out());
}

absl::Status CannotWrite(const absl::Status& why) {
  return absl::UnavailableError(absl::StrCat(why.message(), "; choose another place with -o"));
}

absl::Status CheckMayWrite(const std::string& trace_path, bool replace) {
  if (ProfileReader::Open(trace_path).ok()) {
    return absl::InvalidArgumentError(trace_path +
                                      " is a profile, which the trace would replace; choose "
                                      "another place with -o");
  }
  if (!replace && IsFile(trace_path)) {
    return absl::AlreadyExistsError(trace_path + " exists, and is left alone; --force replaces it");
  }
  return absl::OkStatus();
}

using Writer = std::function<TraceExportResult(std::ostream* out)>;

absl::StatusOr<TraceExportResult> WriteTo(int fd, const std::string& place, const Writer& writer) {
  OutputStream out(fd);
  TraceExportResult result = writer(&out);
  if (!out.flush()) {
    return CannotWrite(absl::ErrnoToStatus(errno, "cannot write the trace " + place));
  }
  return result;
}

// Moved to its place whole, so that a failure leaves an older trace be.
absl::StatusOr<TraceExportResult> WriteFile(const std::string& trace_path, const Writer& writer) {
  absl::StatusOr<OutputFile> file = OutputFile::Create(trace_path, {.what = "trace"});
  if (!file.ok()) return CannotWrite(file.status());
  absl::StatusOr<TraceExportResult> result = WriteTo(file->fd(), trace_path, writer);
  if (!result.ok()) return result;
  if (absl::Status status = file->Publish(); !status.ok()) return CannotWrite(status);
  return result;
}

}  // namespace

absl::StatusOr<TraceExportResult> ExportTrace(const std::string& profile_path, TraceFormat format,
                                              const std::string& trace_path,
                                              const TraceExportOptions& options) {
  if (format == TraceFormat::kPprof && (options.from_s || options.to_s)) {
    return absl::InvalidArgumentError(
        "--format pprof sums up all of the run, as the report does; leave --from and --to out");
  }
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(profile_path);
  if (!reader.ok()) return reader.status();
  const bool to_standard_output = trace_path == kStandardOutput;
  if (!to_standard_output) {
    if (absl::Status status = CheckMayWrite(trace_path, options.replace); !status.ok()) {
      return status;
    }
  }
  const absl::StatusOr<Summary> summary = LoadSummary(profile_path);
  if (!summary.ok()) return summary.status();
  const absl::StatusOr<TraceSelection> selection =
      SelectionOf(options, summary->run().start_time_ns());
  if (!selection.ok()) return selection.status();
  const Writer writer = [&](std::ostream* out) {
    if (format != TraceFormat::kPprof) {
      return WriteTrace(*summary, format, *selection, &*reader, out);
    }
    const PprofOptions pprof{.counters = options.counters, .paths = options.paths};
    return WritePprof(*summary, pprof, &*reader, out);
  };
  // Standard output may be a file that is open, which is written to where it stands.
  absl::StatusOr<TraceExportResult> result =
      to_standard_output ? WriteTo(STDOUT_FILENO, "to standard output", writer)
                         : WriteFile(trace_path, writer);
  if (!result.ok()) return result;
  result->frames_refused += reader->refused_frames();
  return result;
}

}  // namespace utlz
