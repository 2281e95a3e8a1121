#include "collector/session/live_source.h"

#include <utility>

#include "collector/session/realtime_clock.h"
#include "collector/session/thread_time.h"

namespace utlz {

LiveSource::LiveSource(const std::string& folder) {
  if (folder.empty()) return;
  absl::StatusOr<LiveServer> server = LiveServer::Listen(folder);
  if (server.ok()) server_.emplace(*std::move(server));
}

void LiveSource::Serve(RunRecorder* recorder, uint64_t monotonic_ns) {
  if (!server_ || !server_->Serve(monotonic_ns) || !pace_.Due(monotonic_ns)) return;
  const uint64_t cpu_before_ns = ThreadCpuNs();
  if (!report_) report_.emplace();
  server_->Send(report_->Take(recorder->Advance(), RealtimeNs()));
  pace_.Made(monotonic_ns, ThreadCpuNs() - cpu_before_ns);
}

}  // namespace utlz
