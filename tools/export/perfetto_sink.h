// Perfetto's protobuf trace.
#ifndef UTLZ_TOOLS_EXPORT_PERFETTO_SINK_H_
#define UTLZ_TOOLS_EXPORT_PERFETTO_SINK_H_

#include <map>
#include <ostream>
#include <string>
#include <unordered_map>

#include "tools/export/trace_sink.h"

namespace utlz {

class PerfettoSink : public TraceSink {
 public:
  explicit PerfettoSink(std::ostream& out) : out_(out) {}

  void Begin() override;
  void Declare(const TraceProcess& process) override;
  void Declare(const TraceTrack& track) override;
  void Declare(const TraceCounter& counter) override;
  void Write(const TraceSlice& slice) override;
  void Write(const TraceSample& sample) override;
  void End() override {}

 private:
  // Further names are written out each time, so that hostile ones cannot take all memory.
  static constexpr size_t kMaxInternedNames = 65536;

  void Emit(const std::string& packet);
  void WriteEvent(const TraceSlice& slice, uint32_t type, uint64_t time_ns);
  void WriteCounters(uint32_t gpu, uint64_t time_ns, std::span<const CounterValue> values,
                     bool zero);
  void SnapshotClocks(uint64_t time_ns);

  std::ostream& out_;
  std::unordered_map<std::string, uint64_t> names_;
  std::map<uint32_t, uint64_t> sampled_until_;  // by first counter of a sample
  bool clocks_known_ = false;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_PERFETTO_SINK_H_
