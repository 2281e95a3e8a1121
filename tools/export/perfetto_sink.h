// Perfetto's protobuf trace.
#ifndef UTLZ_TOOLS_EXPORT_PERFETTO_SINK_H_
#define UTLZ_TOOLS_EXPORT_PERFETTO_SINK_H_

#include <map>
#include <ostream>
#include <protozero/pbf_writer.hpp>
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
  // Work of a stream: a render stage event, so that Perfetto's GPU views know it as a kernel.
  void WriteQueueEvent(const TraceSlice& slice, uint32_t gpu, uint32_t process);
  void DeclareStages();
  void DeclareContext(const TraceProcess& process);
  void DeclareQueue(const TraceTrack& track);
  // The number of an interned name, which `packet` then holds if it is new; zero where there are
  // too many.
  uint64_t InternName(std::string_view name, protozero::pbf_writer& packet);
  void WriteEvent(const TraceSlice& slice, uint32_t type, uint64_t time_ns);
  void WriteCounters(uint32_t gpu, uint64_t time_ns, std::span<const CounterValue> values,
                     bool zero);
  void SnapshotClocks(uint64_t time_ns);

  std::ostream& out_;
  std::unordered_map<std::string, uint64_t> names_;
  std::map<uint32_t, uint64_t> sampled_until_;  // by first counter of a sample
  struct Queue {
    uint32_t gpu;
    uint32_t process;
  };
  std::unordered_map<uint64_t, Queue> queues_;  // tracks of streams
  uint64_t queue_events_ = 0;
  bool clocks_known_ = false;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_PERFETTO_SINK_H_
