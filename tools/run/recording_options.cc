#include "tools/run/recording_options.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "collector/files/runtime_folder.h"
#include "collector/history/history_log.h"
#include "collector/history/run_history.h"
#include "tools/calibrate/ceilings_store.h"
#include "tools/exporter/find_places.h"
#include "tools/run/alarm_sentence.h"
#include "tools/run/profile_name.h"

namespace utlz {
namespace {

uint32_t RandomNumber() {
  uint32_t number = 0;
  // Without it the name can be foreseen, which still leaves whatever is there alone.
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) return 0;
  return number;
}

class HistoryOfRun : public KeptHistory {
 public:
  HistoryOfRun(std::unique_ptr<HistoryLog> log, const SessionOptions& session)
      : log_(std::move(log)),
        run_(NameRun(session.command, session.profile_path),
             [this](HistoryInterval interval) { log_->Add(std::move(interval)); }) {}
  ~HistoryOfRun() override { run_.End(); }

  void Publish(const MetricsSnapshot& snapshot) { run_.Publish(snapshot); }

 private:
  std::unique_ptr<HistoryLog> log_;
  RunHistory run_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Exporter>> StartExporter(
    const RecordingOptions& options, const std::function<void(const std::string& sentence)>& say,
    SessionOptions* session) {
  if (!options.metrics.wanted()) return std::unique_ptr<Exporter>();
  absl::StatusOr<std::unique_ptr<Exporter>> exporter = Exporter::Start(options.metrics, say);
  if (!exporter.ok()) return exporter.status();
  session->publish_metrics = [to = exporter->get()](MetricsSnapshot snapshot) {
    to->Publish(std::move(snapshot));
  };
  session->report_alarm = [to = exporter->get()](const Alarm& alarm) {
    to->Report(AlarmSentence(alarm));
  };
  return exporter;
}

absl::StatusOr<std::unique_ptr<KeptHistory>> StartHistory(
    const RecordingOptions& options, const std::function<void(const std::string& sentence)>& say,
    SessionOptions* session) {
  if (options.history_folder.empty()) return std::unique_ptr<KeptHistory>();
  absl::StatusOr<std::unique_ptr<HistoryLog>> log =
      HistoryLog::Open(options.history_folder, options.history_bytes, say);
  if (!log.ok()) return log.status();
  auto kept = std::make_unique<HistoryOfRun>(*std::move(log), *session);
  session->publish_metrics = [kept = kept.get(),
                              also = session->publish_metrics](MetricsSnapshot snapshot) {
    kept->Publish(snapshot);
    if (also) also(std::move(snapshot));
  };
  return std::unique_ptr<KeptHistory>(std::move(kept));
}

absl::StatusOr<std::unique_ptr<ApplicationScraper>> StartScraper(
    const RecordingOptions& options, const std::function<void(const std::string& sentence)>& say,
    SessionOptions* session) {
  if (options.app_metrics.empty()) return std::unique_ptr<ApplicationScraper>();
  auto scraper = ApplicationScraper::Start(options.app_metrics, say);
  if (!scraper.ok()) return scraper.status();
  session->read_application = [of = scraper->get()] { return of->Latest(); };
  return scraper;
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
  // Who looks on while the job runs wants to see more than its beginning.
  const bool watched = options.metrics.wanted() || !options.history_folder.empty();
  const bool always = options.later_windows == LaterWindowsMode::kAlways ||
                      (options.later_windows == LaterWindowsMode::kAuto && watched);
  if (always) session.trace_flags |= kTraceAgainAlways;
  if (options.later_windows == LaterWindowsMode::kNever) session.trace_flags |= kTraceAgainNever;
  if (options.stacks) session.trace_flags |= kTraceStacks;
  if (options.stacks && options.idle_stacks) session.trace_flags |= kTraceThreadStacks;
  if (options.nvtx) session.trace_flags |= kTraceMarkers | kTraceLaunchCalls;
  if (options.counters == CountersMode::kRange) session.trace_flags |= kTraceUserRanges;
  session.workload_spec = options.workload_spec;
  session.alert_limits = options.alert_limits;
  session.ceilings = LoadCeilings(CeilingsFolder());
  session.live_folder = RuntimeFolder().value_or("");
  session.places = MachinePlaces();
  return session;
}

absl::StatusOr<std::unique_ptr<Session>> StartSession(const SessionOptions& session) {
  auto started = Session::Start(session);
  const absl::Status& status = started.status();
  const bool of_profile = absl::StrContains(status.message(), session.profile_path);
  if (status.ok() || !of_profile || !session.profile_file.must_be_new) return started;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; -o FILE puts it in another folder"));
}

}  // namespace utlz
