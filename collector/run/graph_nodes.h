// Kernels that ran as nodes of CUDA graphs: which nodes a graph has, in the order in which they
// were made, and how long each ran, by the stack that launched the graph.
//
// Bounded by kMostNodes, kMostWork and the run's memory: what does not fit belongs to the launch of
// its graph. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_GRAPH_NODES_H_
#define UTLZ_COLLECTOR_RUN_GRAPH_NODES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/run/memory_budget.h"
#include "collector/run/process_table.h"

namespace utlz {

class GraphNodes {
 public:
  static constexpr size_t kMostNodes = 1u << 17;
  static constexpr size_t kMostWork = 1u << 18;

  struct Node {
    uint32_t kernel = 0;  // index into KernelTable
    uint32_t source = 0;  // of the process
    uint64_t graph = 0;
    uint64_t id = 0;  // CUPTI's: those of a graph grow in the order in which nodes were made
    uint64_t launches = 0;
    uint32_t captured = 0;     // the stack that it was captured from; 0: not seen
    uint32_t captured_id = 0;  // the process's identifier of that
  };
  struct Work {
    uint32_t node = 0;   // index into nodes()
    uint32_t stack = 0;  // that launched the graph
    uint64_t launches = 0;
    uint64_t time_ns = 0;
  };

  explicit GraphNodes(std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>())
      : memory_(std::move(memory)) {}

  // A node of a graph launch ran. `variant` is the process's identifier of it, `stack` that of the
  // launch of the graph.
  void Add(const ProcessState& process, uint32_t variant, uint32_t kernel, uint32_t stack,
           uint64_t duration_ns);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Work>& work() const { return work_; }
  // Indexes into nodes(), of each graph those that it consists of, in order. Nodes that take the
  // place of others when a graph is updated are left out.
  std::vector<std::vector<uint32_t>> Graphs() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t NodeOf(const ProcessState& process, uint32_t variant, uint32_t kernel);
  uint32_t WorkOf(uint32_t node, uint32_t stack);

  std::shared_ptr<MemoryBudget> memory_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> latest_work_;  // of each node
  std::vector<Work> work_;
  std::unordered_map<uint64_t, uint32_t> node_ids_;  // key: source in the upper half, variant
  std::unordered_map<uint64_t, uint32_t> work_ids_;  // key: node in the upper half, stack
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_GRAPH_NODES_H_
