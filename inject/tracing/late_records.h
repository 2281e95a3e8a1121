// Whether CUPTI still records although tracing was switched off. It goes on recording the nodes of
// graphs that were made while it recorded. For a while nodes of earlier launches come; if more come
// after that, tracing is not off and must be switched off again.
//
// Other launches end with the switch. Their records may come much later than that: CUPTI keeps the
// buffer of a thread until every launch in it has run.
//
// Agent's thread only.
#ifndef UTLZ_INJECT_TRACING_LATE_RECORDS_H_
#define UTLZ_INJECT_TRACING_LATE_RECORDS_H_

#include <cstdint>

namespace utlz::agent {

class LateRecords {
 public:
  // Records of launches from before tracing was switched off come for this long.
  static constexpr uint64_t kStragglersNs = 150'000'000;
  // If none comes for this long after that, tracing is taken to be off.
  static constexpr uint64_t kSilentNs = 1'000'000'000;
  static constexpr uint64_t kFewNodes = 64;

  void SwitchedOff(uint64_t now_ns) { due_ns_ = now_ns + kStragglersNs; }
  // Each turn, with the graph nodes recorded so far; `counts` is false while another client has the
  // buffers. True: tracing has to be switched off once more, which this takes to be done.
  bool StillCome(uint64_t now_ns, uint64_t graph_nodes, bool tracing, bool counts) {
    if (tracing || !counts || due_ns_ == 0 || now_ns < due_ns_) {
      if (tracing) due_ns_ = 0;
      nodes_when_due_ = graph_nodes;
      return false;
    }
    const bool come = graph_nodes > nodes_when_due_ + kFewNodes;
    if (come) {
      SwitchedOff(now_ns);
    } else if (now_ns > due_ns_ + kSilentNs) {
      due_ns_ = 0;
    }
    return come;
  }
  // Whether some may still come.
  bool expected() const { return due_ns_ != 0; }

 private:
  uint64_t due_ns_ = 0;  // when, tracing being off, no record may come any more
  uint64_t nodes_when_due_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_LATE_RECORDS_H_
