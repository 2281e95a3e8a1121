#include "collector/run/graph_nodes.h"

#include <algorithm>
#include <map>

#include "collector/run/stack_table.h"

namespace utlz {
namespace {

// Of an entry of a table of hashes, beside what it holds.
constexpr size_t kEntryBytes = 64;

}  // namespace

void GraphNodes::Add(const ProcessState& process, uint32_t variant, uint32_t kernel, uint32_t stack,
                     uint64_t duration_ns) {
  const uint32_t node = NodeOf(process, variant, kernel);
  if (node == kNone) return;
  const uint32_t work = WorkOf(node, stack);
  if (work == kNone) return;
  ++nodes_[node].launches;
  ++work_[work].launches;
  work_[work].time_ns += duration_ns;
}

uint32_t GraphNodes::NodeOf(const ProcessState& process, uint32_t variant, uint32_t kernel) {
  const uint64_t key = uint64_t{process.source} << 32 | variant;
  if (const auto known = node_ids_.find(key); known != node_ids_.end()) {
    // A variant on another device is another kernel.
    return nodes_[known->second].kernel == kernel ? known->second : kNone;
  }
  if (variant >= process.variants.size() || process.variants[variant].graph_node == 0) return kNone;
  if (nodes_.size() >= kMostNodes || !memory_->Take(2 * sizeof(Node) + kEntryBytes)) return kNone;
  const VariantShape& shape = process.variants[variant];
  const auto node = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({.kernel = kernel,
                    .source = process.source,
                    .graph = shape.graph,
                    .id = shape.graph_node,
                    .captured = StackTable::Find(process, shape.captured_stack),
                    .captured_id = shape.captured_stack});
  latest_work_.push_back(kNone);
  node_ids_.emplace(key, node);
  return node;
}

uint32_t GraphNodes::WorkOf(uint32_t node, uint32_t stack) {
  uint32_t& latest = latest_work_[node];
  if (latest != kNone && work_[latest].stack == stack) return latest;
  const uint64_t key = uint64_t{node} << 32 | stack;
  if (const auto known = work_ids_.find(key); known != work_ids_.end()) {
    return latest = known->second;
  }
  if (work_.size() >= kMostWork || !memory_->Take(2 * sizeof(Work) + kEntryBytes)) return kNone;
  latest = static_cast<uint32_t>(work_.size());
  work_.push_back({.node = node, .stack = stack});
  work_ids_.emplace(key, latest);
  return latest;
}

std::vector<std::vector<uint32_t>> GraphNodes::Graphs() const {
  std::map<std::pair<uint32_t, uint64_t>, std::vector<uint32_t>> by_graph;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    by_graph[{nodes_[i].source, nodes_[i].graph}].push_back(i);
  }
  std::vector<std::vector<uint32_t>> graphs;
  for (auto& entry : by_graph) {
    std::vector<uint32_t>& order = entry.second;
    std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      return nodes_[a].id != nodes_[b].id ? nodes_[a].id < nodes_[b].id
                                          : nodes_[a].launches > nodes_[b].launches;
    });
    const auto end = std::unique(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      return nodes_[a].id == nodes_[b].id;
    });
    order.erase(end, order.end());
    graphs.push_back(std::move(order));
  }
  return graphs;
}

}  // namespace utlz
