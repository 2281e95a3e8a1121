#include "tools/collector_service/service.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/files/state_folder.h"
#include "collector/history/history_log.h"
#include "collector/history/run_history.h"
#include "collector/session/agent_trouble.h"
#include "collector/text/shown_text.h"
#include "tools/collector_service/job_identity.h"
#include "tools/collector_service/job_metrics.h"
#include "tools/collector_service/rule_watch.h"
#include "tools/collector_service/service_socket.h"
#include "tools/ending/ending_watch.h"
#include "tools/run/alarm_sentence.h"
#include "tools/run/say.h"

namespace utlz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTurn(100);
constexpr std::chrono::seconds kBetweenRefusalReports(10);

// One call, so that lines of several threads do not mix.
std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "host";
}

// What ends a recording in order is EndingWatch's.
void BlockEndingSignals() {
  const sigset_t ending = EndingSignals();
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

class CollectorService {
 public:
  CollectorService(const CollectorServiceOptions& options, std::string folder, ServiceSocket socket,
                   std::unique_ptr<Exporter> exporter, std::unique_ptr<HistoryLog> history)
      : options_(options),
        folder_(std::move(folder)),
        socket_(std::make_unique<ServiceSocket>(std::move(socket))),
        exporter_(std::move(exporter)),
        history_(std::move(history)),
        jobs_(
            options.limits, [this](const JobIdentity& job) { return RecordingOf(job); }, Say) {}

  void Serve(const EndingWatch& ending) {
    while (!ending.Came()) Turn();
  }

  void AttachBy(std::unique_ptr<RuleWatch> rules) { rules_ = std::move(rules); }

  // Nobody connects any more; the agents look for the next collector once theirs asks them to.
  void End() {
    socket_.reset();
    jobs_.EndAll();
    rules_.reset();
    ShowMetrics(Clock::now());
  }

 private:
  void Turn() {
    pollfd watched = {socket_->listener.fd(), POLLIN, 0};
    poll(&watched, 1, static_cast<int>(kTurn.count()));
    const Clock::time_point now = Clock::now();
    socket_->listener.Poll(now,
                           [&](AgentHandshake handshake) { Admit(std::move(handshake), now); });
    if (now < next_look_) return;
    next_look_ = now + kTurn;
    jobs_.Look(now);
    if (rules_ != nullptr) {
      rules_->Look(now, [&](pid_t pid, uid_t user) { return SessionFor(pid, user, now); });
    }
    ReportRefusals(now);
    ReportUnanswered();
    ShowMetrics(now);
  }

  void Admit(AgentHandshake handshake, Clock::time_point now) {
    const JobIdentity job = IdentifyJob("/proc", handshake.pid, handshake.user);
    jobs_.Admit(job, std::move(handshake), now);
  }

  std::shared_ptr<JobSession> SessionFor(pid_t pid, uid_t user, Clock::time_point now) {
    JobIdentity job = IdentifyJob("/proc", pid, user);
    job.key.insert(0, "attached/");
    job.attached = true;
    return jobs_.SessionOf(job, now);
  }

  JobRecording RecordingOf(const JobIdentity& job) {
    JobRecording recording;
    SessionOptions& session = recording.session;
    session = MakeSessionOptions(options_.recording, absl::StrCat(job.name, "-", host_));
    session.profile_path = absl::StrCat(folder_, "/", session.profile_path);
    // Arguments and names of other users' processes are in it.
    session.profile_file.is_private = true;
    session.command = job.command;
    session.of_service = !job.attached;
    session.attached = job.attached;
    session.most_bytes_per_second = options_.most_bytes_per_second;
    if (exporter_ == nullptr && history_ == nullptr) return recording;
    if (exporter_ != nullptr) {
      session.report_alarm = [to = exporter_.get(),
                              name = EscapeForTerminal(job.name)](const Alarm& alarm) {
        to->Report(absl::StrCat(name, ": ", AlarmSentence(alarm)));
      };
    }
    const uint64_t number = exporter_ == nullptr ? 0 : metrics_.Begin(job.name);
    const std::shared_ptr<RunHistory> history = HistoryOf(session);
    session.publish_metrics = [this, number, history](MetricsSnapshot snapshot) {
      if (history != nullptr) history->Publish(snapshot);
      if (number != 0) metrics_.Publish(number, std::move(snapshot));
    };
    recording.ended = [this, number, history] {
      if (history != nullptr) history->End();
      if (number != 0) metrics_.End(number, Clock::now());
    };
    return recording;
  }

  std::shared_ptr<RunHistory> HistoryOf(const SessionOptions& session) {
    if (history_ == nullptr) return nullptr;
    return std::make_shared<RunHistory>(
        NameRun(session.command, session.profile_path),
        [this](HistoryInterval interval) { history_->Add(std::move(interval)); });
  }

  // Strangers and rubbish could fill the journal.
  void ReportRefusals(Clock::time_point now) {
    const uint64_t refused = socket_->listener.refused();
    if (refused == refusals_reported_ || now < next_refusals_) return;
    Say(absl::StrCat(refused - refusals_reported_,
                     " connections were refused: of another user, too slow, or not from an agent"));
    refusals_reported_ = refused;
    next_refusals_ = now + kBetweenRefusalReports;
  }

  void ReportUnanswered() {
    const uint64_t unanswered = socket_->listener.unanswered();
    if (unanswered == unanswered_reported_) return;
    Say(UnansweredSentence(unanswered - unanswered_reported_));
    unanswered_reported_ = unanswered;
  }

  void ShowMetrics(Clock::time_point now) {
    if (exporter_ == nullptr) return;
    if (auto snapshot = metrics_.Merged(now)) exporter_->Publish(*std::move(snapshot));
  }

  const CollectorServiceOptions& options_;
  const std::string folder_;
  const std::string host_ = HostName();
  std::unique_ptr<ServiceSocket> socket_;
  std::unique_ptr<Exporter> exporter_;
  std::unique_ptr<HistoryLog> history_;
  JobMetrics metrics_;
  JobTable jobs_;
  std::unique_ptr<RuleWatch> rules_;
  Clock::time_point next_look_;
  Clock::time_point next_refusals_;
  uint64_t refusals_reported_ = 0;
  uint64_t unanswered_reported_ = 0;
};

absl::StatusOr<std::unique_ptr<HistoryLog>> OpenHistory(const RecordingOptions& options) {
  if (options.history_folder.empty()) return std::unique_ptr<HistoryLog>();
  return HistoryLog::Open(options.history_folder, options.history_bytes, Say);
}

absl::StatusOr<std::unique_ptr<RuleWatch>> WatchByRules(const CollectorServiceOptions& options) {
  if (options.rules.empty()) return std::unique_ptr<RuleWatch>();
  absl::StatusOr<std::vector<AttachRule>> rules = ReadAttachRules(options.rules);
  if (!rules.ok()) return rules.status();
  return RuleWatch::Start(*std::move(rules), options.recording.cupti_path, Say);
}

absl::StatusOr<std::unique_ptr<Exporter>> StartExporter(const ExporterOptions& options) {
  if (!options.wanted()) return std::unique_ptr<Exporter>();
  return Exporter::Start(options, Say);
}

}  // namespace

int RunCollectorService(const CollectorServiceOptions& options) {
  BlockEndingSignals();
  absl::StatusOr<std::string> path =
      options.socket.empty() ? DefaultServiceSocket() : ServiceSocketPath(options.socket);
  if (!path.ok()) return Fail(path.status());
  const std::string folder = options.folder.empty() ? StateFolder("profiles") : options.folder;
  if (const absl::Status made = MakeFolders(folder); !made.ok()) return Fail(made);
  const EndingWatch ending({.at_first = "finishing the profiles; a second Ctrl-C ends utlz at once",
                            .at_second = "ended before the profiles were finished; utlz report "
                                         "shows what each holds"});
  absl::StatusOr<std::unique_ptr<Exporter>> exporter = StartExporter(options.recording.metrics);
  if (!exporter.ok()) return Fail(exporter.status());
  absl::StatusOr<std::unique_ptr<HistoryLog>> history = OpenHistory(options.recording);
  if (!history.ok()) return Fail(history.status());
  absl::StatusOr<ServiceSocket> socket = OpenServiceSocket(*path, options.users);
  if (!socket.ok()) return Fail(socket.status());
  auto rules = WatchByRules(options);
  if (!rules.ok()) return Fail(rules.status());
  Say(absl::StrCat("collector: unix:", *path, ", profiles in ", folder));
  CollectorService service(options, folder, *std::move(socket), *std::move(exporter),
                           *std::move(history));
  service.AttachBy(*std::move(rules));
  service.Serve(ending);
  service.End();
  return 0;
}

}  // namespace utlz
