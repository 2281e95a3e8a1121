// What a trace is made of, whatever its format. Times are nanoseconds of CLOCK_REALTIME.
//
// Not thread safe. The caller declares a process or track before it uses it. Text may hold any
// bytes.
#ifndef UTLZ_TOOLS_EXPORT_TRACE_SINK_H_
#define UTLZ_TOOLS_EXPORT_TRACE_SINK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace utlz {

struct TraceProcess {
  uint32_t id = 0;  // in the trace; 0 is the GPUs themselves
  uint64_t pid = 0;
  std::string_view name;
};

// A row of slices that do not overlap.
struct TraceTrack {
  uint64_t id = 0;  // from 1
  uint32_t process = 0;
  std::string_view name;
  std::optional<uint32_t> gpu;  // a stream's work; else something of the process
};

struct TraceArgument {
  std::string_view name;
  std::variant<uint64_t, double, std::string_view> value;
};

// How a kernel was launched.
struct TraceLaunch {
  uint32_t grid[3] = {};
  uint32_t block[3] = {};
};

struct TraceSlice {
  uint64_t track = 0;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;  // the start's for a mark
  std::string_view category;
  std::string_view name;
  std::span<const TraceArgument> arguments;
  const TraceLaunch* launch = nullptr;  // of a kernel
};

struct TraceCounter {
  uint32_t id = 0;  // from 1, unique in the trace
  uint32_t gpu = 0;
  std::string_view name;
  std::string_view unit;    // "byte", "percent", "watt", "hertz", …
  bool of_kernels = false;  // attributed to kernels, not sampled: one value a launch
};

struct CounterValue {
  uint32_t counter;
  double value;
};

// Counters of one GPU over one interval.
struct TraceSample {
  uint32_t gpu = 0;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  std::span<const CounterValue> values;
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void Begin() = 0;
  virtual void Declare(const TraceProcess& process) = 0;
  virtual void Declare(const TraceTrack& track) = 0;
  virtual void Declare(const TraceCounter& counter) = 0;
  virtual void Write(const TraceSlice& slice) = 0;
  virtual void Write(const TraceSample& sample) = 0;
  virtual void End() = 0;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_TRACE_SINK_H_
