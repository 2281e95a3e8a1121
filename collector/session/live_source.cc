#include "collector/session/live_source.h"

#include <utility>

#include "collector/clocks.h"

namespace utlz {

LiveSource::LiveSource(const std::string& folder) {
  if (folder.empty()) return;
  absl::StatusOr<LiveServer> server = LiveServer::Listen(folder);
  if (server.ok()) server_.emplace(*std::move(server));
}

void LiveSource::Serve(RunRecorder* recorder, uint64_t monotonic_ns) {
  if (!server_ || !server_->Serve(monotonic_ns) || !pace_.Due(monotonic_ns)) return;
  if (recorder->behind()) return;
  if (!report_) report_.emplace();
  if (report_->RenewalIsDue(recorder->state(), monotonic_ns)) {
    // The snapshot follows it.
    return recorder->Study([this, monotonic_ns](const RunState& run_state) {
      report_->RenewWhatIsDue(run_state, monotonic_ns);
    });
  }
  const RunState& run_state = recorder->Advance();
  const uint64_t cpu_before_ns = ThreadCpuNs();
  server_->Send(report_->Take(run_state, RealtimeNs()));
  pace_.Made(monotonic_ns, ThreadCpuNs() - cpu_before_ns);
}

}  // namespace utlz
