// Trace event JSON, one event a line. Times are since the run's start: readers take them as
// doubles, which hold no nanoseconds of today's date. Counters are thinned to means of a
// millisecond, since each value is a line; a kernel's own rates are arguments of its slices alone.
#ifndef UTLZ_TOOLS_EXPORT_CHROME_SINK_H_
#define UTLZ_TOOLS_EXPORT_CHROME_SINK_H_

#include <map>
#include <ostream>
#include <string>

#include "tools/export/trace_sink.h"

namespace utlz {

class ChromeSink : public TraceSink {
 public:
  // `run_start_ns` 0: unknown, and times are those of the clock.
  ChromeSink(std::ostream& out, uint64_t run_start_ns) : out_(out), run_start_ns_(run_start_ns) {}

  void Begin() override;
  void Declare(const TraceProcess& process) override;
  void Declare(const TraceTrack& track) override;
  void Declare(const TraceCounter& counter) override;
  void Write(const TraceSlice& slice) override;
  void Write(const TraceSample& sample) override;
  void End() override;

 private:
  struct CounterLine {
    std::string name;
    uint64_t start_ns = 0;
    double value_ns = 0;  // the sum of value × time
    double time_ns = 0;
  };

  void Event(const std::string& event);
  std::string Microseconds(uint64_t ns) const;
  void Flush(CounterLine& line);

  std::ostream& out_;
  uint64_t run_start_ns_;
  std::map<uint64_t, uint32_t> process_by_track_;
  std::map<uint32_t, CounterLine> counter_lines_;
  bool first_ = true;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_CHROME_SINK_H_
