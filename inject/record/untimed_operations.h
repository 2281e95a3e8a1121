// Finds the operations of which no kernel has times. Whoever reads the launches counts an operation
// where its first kernel with times comes; those that never had one are to be told besides.
// Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_UNTIMED_OPERATIONS_H_
#define UTLZ_INJECT_RECORD_UNTIMED_OPERATIONS_H_

#include <cstdint>

namespace utlz::agent {

class UntimedOperations {
 public:
  // A record: whether an operation begins with it, whether that is the launch of a graph, and
  // whether it is counted by what is told of it. Returns how many operations without times are over
  // now: of a graph's that is known when the next operation begins.
  uint32_t Note(bool begins, bool graph_node, bool with_times) {
    if (!begins) {
      if (graph_node && with_times) graph_without_times_ = false;
      return 0;
    }
    const uint32_t over = (graph_without_times_ ? 1 : 0) + (!graph_node && !with_times ? 1 : 0);
    graph_without_times_ = graph_node && !with_times;
    return over;
  }

 private:
  bool graph_without_times_ = false;  // the newest operation, so far
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_UNTIMED_OPERATIONS_H_
