#include "collector/session/session.h"

#include <unistd.h>

#include <climits>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "collector/clocks.h"
#include "collector/quiet_thread.h"
#include "collector/session/collector_loop.h"
#include "proto/profile.pb.h"
#include "proto/valid_string.h"

namespace utlz {
namespace {

const char* CountersName(CountersMode mode) {
  switch (mode) {
    case CountersMode::kAuto:
      return "auto";
    case CountersMode::kSample:
      return "sample";
    case CountersMode::kRange:
      return "range";
    case CountersMode::kNone:
      return "none";
  }
  return "";
}

RunStart DescribeStart(const SessionOptions& options) {
  RunStart start;
  start.set_time_ns(RealtimeNs());
  for (const std::string& argument : options.command) start.add_command(ValidText(argument));
  std::error_code error;
  start.set_directory(ValidText(std::filesystem::current_path(error).string()));
  char host[HOST_NAME_MAX + 1] = {};
  if (gethostname(host, sizeof(host) - 1) == 0) start.set_host(host);
  start.set_utlz_version(UTLZ_VERSION);
  start.set_overhead_budget_ppm(options.overhead_budget_ppm);
  start.set_counters(CountersName(options.counters));
  start.set_attached(options.attached);
  if (options.workload_spec.ByteSizeLong() > 0)
    *start.mutable_workload_spec() = options.workload_spec;
  if (options.alert_limits.ByteSizeLong() > 0) {
    *start.mutable_alert_limits() = options.alert_limits;
  }
  return start;
}

class RunningSession : public Session {
 public:
  explicit RunningSession(std::unique_ptr<CollectorLoop> loop)
      : loop_(std::move(loop)),
        thread_(StartQuietThread("utlz-collector", [run = loop_.get()] { run->Run(); })) {}

  ~RunningSession() override { Join(); }

  void AwaitReady() override { loop_->AwaitReady(); }

  void AddAgent(UniqueFd connection, pid_t pid) override {
    loop_->AddAgent(std::move(connection), pid);
  }

  void AddHandshake(AgentHandshake handshake) override {
    loop_->AddHandshake(std::move(handshake));
  }

  SessionProgress Progress() const override { return loop_->progress(); }

  void RequestState(AgentState state) override { loop_->AskForState(state); }

  absl::StatusOr<SessionResult> Finish(const CommandOutcome& outcome) override {
    if (!thread_.joinable()) return absl::FailedPreconditionError("the session is over already");
    RunEnd end;
    end.set_time_ns(outcome.end_ns.value_or(RealtimeNs()));
    if (outcome.exit_status) end.set_exit_status(*outcome.exit_status);
    if (outcome.signal) end.set_signal(*outcome.signal);
    Join();
    AddNotices(outcome.notices, &end);
    if (loop_->agents() + loop_->agents_left_out() == 0 && outcome.explain_absence) {
      AddNotices(outcome.explain_absence(), &end);
    }
    if (outcome.explain_silence && !AnyLaunch()) AddNotices(outcome.explain_silence(), &end);
    AddNotices(loop_->Notices(), &end);
    end.set_collector_cpu_ns(loop_->cpu_ns());
    SessionResult result;
    result.agents = loop_->agents();
    result.summary = loop_->recorder().Finish(std::move(end));
    result.write_failure = loop_->recorder().write_failure();
    result.profile_is_elsewhere = loop_->recorder().profile_is_elsewhere();
    loop_->PublishLastMetrics();
    return result;
  }

 private:
  static void AddNotices(const std::vector<std::string>& notices, RunEnd* end) {
    for (const std::string& notice : notices) end->add_notices(ValidText(notice));
  }

  // Once the thread has ended: the last records of agents are in by then.
  bool AnyLaunch() {
    RunRecorder& recorder = loop_->recorder();
    recorder.CatchUpWithAll();
    return recorder.launches() > 0;
  }

  void Join() {
    if (!thread_.joinable()) return;
    loop_->AskToStop();
    thread_.join();
  }

  std::unique_ptr<CollectorLoop> loop_;
  std::thread thread_;
};

}  // namespace

std::string SessionResult::DescribeProfile(const std::string& path) const {
  if (profile_is_elsewhere) return absl::StrCat("no profile is at ", path);
  return absl::StrCat(write_failure ? "profile, incomplete: " : "profile: ", path);
}

absl::StatusOr<std::unique_ptr<Session>> Session::Start(const SessionOptions& options) {
  absl::StatusOr<ProfileWriter> writer =
      ProfileWriter::Open(options.profile_path, options.profile_file);
  if (!writer.ok()) return writer.status();
  absl::StatusOr<AgentListener> listener = options.socket_path.empty()
                                               ? AgentListener::WithoutSocket()
                                               : AgentListener::Listen(options.socket_path);
  if (!listener.ok()) return listener.status();
  absl::StatusOr<std::unique_ptr<CollectorLoop>> loop =
      CollectorLoop::Make(options, *std::move(listener), *std::move(writer));
  if (!loop.ok()) return loop.status();
  RunRecorder& recorder = (*loop)->recorder();
  recorder.Record(0, FRAME_RUN_START, DescribeStart(options).SerializeAsString());
  for (const DeviceCeilings& ceilings : options.ceilings) {
    recorder.Record(0, FRAME_DEVICE_CEILINGS, ceilings.SerializeAsString());
  }
  return std::unique_ptr<Session>(std::make_unique<RunningSession>(*std::move(loop)));
}

}  // namespace utlz
