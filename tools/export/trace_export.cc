#include "tools/export/trace_export.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "absl/status/status.h"
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

absl::Status CannotWrite(const std::string& path) {
  return absl::UnavailableError("cannot write the trace " + path + ": " + std::strerror(errno) +
                                "; choose another place with -o");
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
  // Written beside its place and moved there whole, so that a failure leaves an older trace be.
  const std::string unfinished = trace_path + ".unfinished";
  std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
  if (!out) return CannotWrite(trace_path);
  const std::unique_ptr<TraceSink> sink = MakeSink(format, out);
  ProfileTracer tracer(sink.get(), *summary);
  tracer.Begin();
  FrameView frame;
  while (out && reader->Next(&frame)) tracer.Consume(frame.source, frame.type, frame.payload);
  tracer.End();
  out.close();
  if (!out || std::rename(unfinished.c_str(), trace_path.c_str()) != 0) {
    const absl::Status status = CannotWrite(trace_path);
    std::remove(unfinished.c_str());
    return status;
  }
  TraceExportResult result = tracer.result();
  result.frames_refused += reader->refused_frames();
  return result;
}

}  // namespace utlz
