#include "tools/run/recording_options.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "tools/calibrate/ceilings_store.h"
#include "tools/exporter/find_places.h"
#include "tools/run/profile_name.h"

namespace utlz {
namespace {

uint32_t RandomNumber() {
  uint32_t number = 0;
  // Without it the name can be foreseen, which still leaves whatever is there alone.
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) return 0;
  return number;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Exporter>> StartExporter(
    const RecordingOptions& options, const std::function<void(const std::string& sentence)>& say,
    SessionOptions* session) {
  if (options.metrics.place.empty() && options.metrics.file.empty()) {
    return std::unique_ptr<Exporter>();
  }
  absl::StatusOr<std::unique_ptr<Exporter>> exporter = Exporter::Start(options.metrics, say);
  if (!exporter.ok()) return exporter.status();
  session->publish_metrics = [to = exporter->get()](MetricsSnapshot snapshot) {
    to->Publish(std::move(snapshot));
  };
  session->places = MachinePlaces();
  return exporter;
}

SessionOptions MakeSessionOptions(const RecordingOptions& options, const std::string& name) {
  SessionOptions session;
  session.profile_file.must_be_new = options.output.empty();
  session.profile_path = options.output.empty()
                             ? DefaultProfileName(name, time(nullptr), getpid(), RandomNumber())
                             : options.output;
  session.counters = options.counters;
  session.cupti_path = options.cupti_path;
  session.overhead_budget_ppm = options.overhead_budget_ppm;
  if (options.new_work) session.trace_flags |= kTraceNewWork;
  if (options.stacks) session.trace_flags |= kTraceStacks;
  if (options.nvtx) session.trace_flags |= kTraceMarkers | kTraceLaunchCalls;
  if (options.counters == CountersMode::kRange) session.trace_flags |= kTraceUserRanges;
  session.model_work = options.model_work;
  session.alert_limits = options.alert_limits;
  session.ceilings = LoadCeilings(CeilingsFolder());
  return session;
}

}  // namespace utlz
