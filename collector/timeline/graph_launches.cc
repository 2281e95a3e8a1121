#include "collector/timeline/graph_launches.h"

#include <algorithm>

namespace utlz {

bool GraphLaunches::Begin(uint32_t source, uint32_t correlation, uint32_t variant,
                          uint64_t start_ns) {
  const auto known = latest_.find(source);
  // Correlations grow (and wrap around): an older one is a straggling branch of a launch whose
  // start is known already.
  if (known != latest_.end() &&
      static_cast<int32_t>(correlation - known->second.correlation) <= 0) {
    return false;
  }
  const auto key = std::make_pair(source, variant);
  if (graphs_.size() >= kMaxGraphs && !graphs_.contains(key)) return true;
  AddStart(start_ns, &graphs_[key]);
  latest_[source] = {correlation, key};
  return true;
}

void GraphLaunches::AddTime(uint32_t source, uint32_t correlation, uint64_t time_ns) {
  const auto known = latest_.find(source);
  if (known == latest_.end() || known->second.correlation != correlation) return;
  graphs_[known->second.graph].kernel_time_ns += time_ns;
}

void GraphLaunches::AddStart(uint64_t start_ns, Graph* graph) {
  if (starts_ >= kMostStarts) {
    starts_ = 0;
    for (auto& [key, each] : graphs_) {
      each.starts.Thin();
      starts_ += each.starts.kept();
    }
  }
  starts_ -= graph->starts.kept();
  graph->starts.Add(start_ns);
  starts_ += graph->starts.kept();
}

std::vector<std::pair<uint64_t, uint64_t>> GraphLaunches::StepsOfMain(Graphs::const_iterator begin,
                                                                      Graphs::const_iterator end,
                                                                      uint64_t kernel_time_ns) {
  const auto main = std::max_element(begin, end, [](const auto& a, const auto& b) {
    return a.second.kernel_time_ns < b.second.kernel_time_ns;
  });
  if (main == end || 2 * main->second.kernel_time_ns < kernel_time_ns) return {};
  return main->second.starts.Steps();
}

std::vector<std::pair<uint64_t, uint64_t>> GraphLaunches::StepsOfMainGraph(
    uint64_t kernel_time_ns) const {
  return StepsOfMain(graphs_.begin(), graphs_.end(), kernel_time_ns);
}

std::vector<std::pair<uint64_t, uint64_t>> GraphLaunches::StepsOfMainGraph(
    uint32_t source, uint64_t kernel_time_ns) const {
  return StepsOfMain(graphs_.lower_bound({source, 0}), graphs_.upper_bound({source, UINT32_MAX}),
                     kernel_time_ns);
}

}  // namespace utlz
