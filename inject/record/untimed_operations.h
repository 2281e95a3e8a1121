// Counts the operations whose kernels all lack times. The collector counts an operation at its
// first kernel with times, so the agent sends the number of the others beside the launches. Guarded
// by the agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_UNTIMED_OPERATIONS_H_
#define UTLZ_INJECT_RECORD_UNTIMED_OPERATIONS_H_

#include <cstdint>

namespace utlz::agent {

class UntimedOperations {
 public:
  // Takes one record. `begins`: it is the first of its operation; `graph_node`: that operation is
  // the launch of a graph. Returns how many operations have turned out to be without times: for a
  // graph this is known when the next operation begins.
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
