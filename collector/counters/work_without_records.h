// Work of the GPU that has no record, though tracing is on. Multiprocessors are active in kernels
// alone, so samples in which they were, while nothing was recorded, are of such work. What they
// counted is of no kernel that is known, and no background of the GPU either.
//
// - When tracing goes on after a pause, kernels that were launched before still run: a training
//   runs ahead of its GPU by a step or more. That ends with the first record.
// - CUPTI may leave launches of a thread out for a while after that, or for good.
//
// Of one device. If several processes trace it, the recorded work of one hides that of another, and
// no such work is found. Thread safety: none.
#ifndef UTLZ_COLLECTOR_COUNTERS_WORK_WITHOUT_RECORDS_H_
#define UTLZ_COLLECTOR_COUNTERS_WORK_WITHOUT_RECORDS_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace utlz {

class WorkWithoutRecords {
 public:
  struct Span {
    uint64_t start_ns;
    uint64_t end_ns;
  };
  // How much of a time was sampled, and for how long multiprocessors were active in it.
  struct Seen {
    uint64_t sampled_ns = 0;
    uint64_t active_ns = 0;
    uint64_t active_until_ns = 0;  // the end of the last of it; 0 where there was none
  };
  // As many as wait in the attribution: a training that nobody looks at for seconds has 200,000.
  static constexpr size_t kMaxSamples = 1u << 18;
  // The clocks of records and samples differ by a microsecond or two, rarely by more.
  static constexpr uint64_t kClocksDifferNs = 10'000;

  void TracingWentOn(uint16_t source, uint64_t time_ns);
  // A stretch in which nothing was to be recorded, as far as it is known now: it may grow. What ran
  // then was not left out. Of several, the one that began last is kept.
  void NotTraced(uint64_t start_ns, uint64_t end_ns);
  // In order of time, as is the next: of every sample.
  void AddSampledTime(uint64_t start_ns, uint64_t end_ns);
  // `cycles` in which multiprocessors were active, all together.
  void AddActiveSample(uint64_t start_ns, uint64_t end_ns, double cycles);
  // An activity of the process was recorded; in order of their starts. Returns the samples of work
  // without records before it.
  std::vector<Span> Recorded(uint16_t source, uint64_t start_ns, uint64_t end_ns);
  // Nothing more was recorded before this time. Returns the samples of such work up to it.
  std::vector<Span> NothingUntil(uint64_t time_ns);

  // Looks at what NothingUntil has not forgotten. Returns nothing where several processes were
  // recorded: samples do not say which one was active.
  Seen SeenBetween(uint64_t start_ns, uint64_t end_ns) const;

  // In samples between two records, which CUPTI left out: work in flight does not count.
  double left_out_cycles() const { return left_out_cycles_; }

 private:
  struct Sample {
    uint64_t start_ns;
    uint64_t end_ns;
    double cycles;
  };

  std::vector<Span> ActiveBetween(uint64_t start_ns, uint64_t end_ns) const;
  // Samples within the time since the last record. NothingUntil forgets those that it returned.
  std::vector<Span> LeftOutUntil(uint64_t end_ns);

  std::deque<Span> sampled_;  // without the pauses between windows of the sampler
  std::deque<Sample> active_;
  std::optional<uint16_t> source_;
  bool several_ = false;
  std::optional<uint64_t> since_ns_;  // tracing went on, and nothing has been recorded since
  Span not_traced_{0, 0};
  std::optional<uint64_t> recorded_until_ns_;  // the latest end of an activity; absent before any
  double left_out_cycles_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_WORK_WITHOUT_RECORDS_H_
