// When tracing goes on after a pause, kernels that were launched before still run, and have no
// records: a training runs ahead of its GPU by a step or more. What samples count then is of no
// kernel that is known. Samples in which multiprocessors were active, between the moment that
// tracing went on and the first recorded activity after it, are of such work.
//
// Of one device. If several processes trace it, the recorded work of one hides that of another, and
// no work in flight is found. Thread safety: none.
#ifndef UTLZ_COLLECTOR_COUNTERS_IN_FLIGHT_WORK_H_
#define UTLZ_COLLECTOR_COUNTERS_IN_FLIGHT_WORK_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace utlz {

class InFlightWork {
 public:
  struct Span {
    uint64_t start_ns;
    uint64_t end_ns;
  };
  static constexpr size_t kMaxSamples = 65536;

  void TracingWentOn(uint16_t source, uint64_t time_ns);
  // In order of time.
  void AddActiveSample(uint64_t start_ns, uint64_t end_ns);
  // An activity of the process was recorded. Returns the samples of work in flight before it.
  std::vector<Span> Recorded(uint16_t source, uint64_t start_ns);
  // Nothing more was recorded before this time. Returns the samples of work in flight up to it.
  std::vector<Span> NothingUntil(uint64_t time_ns);

 private:
  std::vector<Span> ActiveBetween(uint64_t start_ns, uint64_t end_ns) const;

  std::deque<Span> active_;
  std::optional<uint16_t> source_;
  bool several_ = false;
  std::optional<uint64_t> since_ns_;  // tracing went on, and nothing has been recorded since
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_IN_FLIGHT_WORK_H_
