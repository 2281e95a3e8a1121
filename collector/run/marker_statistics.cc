#include "collector/run/marker_statistics.h"

namespace utlz {

bool MarkerStatistics::ColumnsAgree(const MarkerBatch& batch) {
  const int count = batch.start_delta_ns_size();
  return batch.duration_ns_size() == count && batch.name_size() == count &&
         (batch.domain().empty() || batch.domain_size() == count) &&
         (batch.thread().empty() || batch.thread_size() == count);
}

std::string_view MarkerStatistics::StringOf(const ProcessState& process, uint32_t id) {
  if (id >= process.strings.size()) return {};
  return process.strings[id];
}

MarkerCount* MarkerStatistics::Count(const MarkerRange& range) {
  auto key = std::make_pair(std::string(range.domain), std::string(range.name));
  const auto known = counts_.find(key);
  if (known == counts_.end() &&
      (counts_.size() >= kMaxMarkers ||
       !memory_->Take(sizeof(key) + sizeof(MarkerCount) + key.first.size() + key.second.size()))) {
    ++left_out_;
    return nullptr;
  }
  MarkerCount& count = known != counts_.end() ? known->second : counts_[std::move(key)];
  ++count.count;
  count.time_ns += range.end_ns - range.start_ns;
  return &count;
}

}  // namespace utlz
