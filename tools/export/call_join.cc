#include "tools/export/call_join.h"

namespace utlz {
namespace {

uint64_t KeyOf(uint32_t source, uint32_t correlation) {
  return uint64_t{source} << 32 | correlation;
}

}  // namespace

bool CallJoin::AddCalls(uint32_t source, const LaunchCallBatch& batch) {
  const int count = batch.start_delta_ns_size();
  if (batch.correlation_delta_size() != count || batch.thread_size() != count) return false;
  if (paths_->empty()) return true;
  uint64_t start_ns = batch.base_ns();
  uint64_t correlation = 0;
  for (int i = 0; i < count; ++i) {
    start_ns += static_cast<uint64_t>(batch.start_delta_ns(i));
    correlation += static_cast<uint64_t>(batch.correlation_delta(i));
    const uint64_t key = KeyOf(source, static_cast<uint32_t>(correlation));
    if (path_by_call_.contains(key)) continue;  // the driver's call in one of the runtime
    const uint32_t path = paths_->PathAt(source, batch.thread(i), start_ns);
    path_by_call_.emplace(key, path);
    call_order_.push_back(key);
    if (const auto launches = waiting_.find(key); launches != waiting_.end()) {
      for (JoinedLaunch& launch : launches->second) {
        launch.site.path = path;
        take_(launch);
      }
      held_ -= launches->second.size();
      waiting_.erase(launches);
    }
    if (call_order_.size() <= kMaxCalls) continue;
    path_by_call_.erase(call_order_.front());
    call_order_.pop_front();
  }
  return true;
}

void CallJoin::AddLaunch(JoinedLaunch launch) {
  launch.site.path = RangePaths::kNoPath;
  if (launch.correlation == 0 || paths_->empty()) return take_(launch);
  const uint64_t key = KeyOf(launch.site.source, launch.correlation);
  if (const auto call = path_by_call_.find(key); call != path_by_call_.end()) {
    launch.site.path = call->second;
    return take_(launch);
  }
  std::vector<JoinedLaunch>& launches = waiting_[key];
  if (launches.empty()) waiting_order_.push_back(key);
  launches.push_back(launch);
  ++held_;
  while (held_ > kMaxWaiting || waiting_order_.size() > kMaxWaiting) DropFirst();
}

void CallJoin::DropFirst() {
  const auto launches = waiting_.find(waiting_order_.front());
  waiting_order_.pop_front();
  if (launches == waiting_.end()) return;
  for (const JoinedLaunch& launch : launches->second) take_(launch);
  held_ -= launches->second.size();
  waiting_.erase(launches);
}

void CallJoin::Finish() {
  while (!waiting_order_.empty()) DropFirst();
}

}  // namespace utlz
