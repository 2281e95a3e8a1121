#include "tools/export/trace_export.h"

#include <cerrno>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collector/files/output_file.h"
#include "collector/files/output_stream.h"
#include "collector/profile/profile_reader.h"
#include "tools/export/chrome_sink.h"
#include "tools/export/perfetto_sink.h"
#include "tools/export/profile_tracer.h"
#include "tools/replay/replay.h"

namespace utlz {
namespace {

std::unique_ptr<TraceSink> MakeSink(TraceFormat format, std::ostream& out) {
  if (format == TraceFormat::kPerfetto) return std::make_unique<PerfettoSink>(out);
  return std::make_unique<ChromeSink>(out);
}

absl::Status CannotWrite(const absl::Status& why) {
  return absl::UnavailableError(absl::StrCat(why.message(), "; choose another place with -o"));
}

}  // namespace

absl::StatusOr<TraceExportResult> ExportTrace(const std::string& profile_path, TraceFormat format,
                                              const std::string& trace_path) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(profile_path);
  if (!reader.ok()) return reader.status();
  if (ProfileReader::Open(trace_path).ok()) {
    return absl::InvalidArgumentError(trace_path +
                                      " is a profile, which the trace would replace; choose "
                                      "another place with -o");
  }
  const absl::StatusOr<Summary> summary = LoadSummary(profile_path);
  if (!summary.ok()) return summary.status();
  // Moved to its place whole, so that a failure leaves an older trace be.
  absl::StatusOr<OutputFile> file = OutputFile::Create(trace_path, {.what = "trace"});
  if (!file.ok()) return CannotWrite(file.status());
  OutputStream out(file->fd());
  const std::unique_ptr<TraceSink> sink = MakeSink(format, out);
  ProfileTracer tracer(sink.get(), *summary);
  tracer.Begin();
  FrameView frame;
  while (out && reader->Next(&frame)) tracer.Consume(frame.source, frame.type, frame.payload);
  tracer.End();
  if (!out.flush()) {
    return CannotWrite(absl::ErrnoToStatus(errno, "cannot write the trace " + trace_path));
  }
  if (absl::Status status = file->Publish(); !status.ok()) return CannotWrite(status);
  TraceExportResult result = tracer.result();
  result.frames_refused += reader->refused_frames();
  return result;
}

}  // namespace utlz
