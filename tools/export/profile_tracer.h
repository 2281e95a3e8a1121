// Turns a profile's frames into slices and counter samples. Payloads are untrusted: one that does
// not decode is counted and skipped. Memory grows with names, variants and tracks, each bounded,
// not with the length of the run. Not thread safe.
#ifndef UTLZ_TOOLS_EXPORT_PROFILE_TRACER_H_
#define UTLZ_TOOLS_EXPORT_PROFILE_TRACER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/decode/launch_decoder.h"
#include "collector/decode/sample_decoder.h"
#include "collector/owners/stack_owners.h"
#include "collector/run/process_table.h"
#include "collector/run/stack_table.h"
#include "proto/profile.pb.h"
#include "tools/export/kernel_metrics.h"
#include "tools/export/node_stacks.h"
#include "tools/export/trace_export_result.h"
#include "tools/export/trace_sink.h"
#include "tools/export/track_lanes.h"

namespace utlz {

class ProfileTracer {
 public:
  // `summary` is the profile's; it gives kernels their counters. `node_stacks` outlives it.
  ProfileTracer(TraceSink* sink, const Summary& summary, NodeStacks* node_stacks)
      : sink_(sink), lanes_(sink), metrics_(summary), node_stacks_(node_stacks) {}

  void Begin();
  void Consume(uint32_t source, uint16_t type, std::string_view payload);
  void End() { sink_->End(); }

  const TraceExportResult& result() const { return result_; }

 private:
  struct Set {
    MetricSet message;
    std::vector<uint32_t> counters;  // by metric
    uint32_t gpu = 0;
  };
  struct Name {
    std::string shown;
    std::string grid;
    std::string block;
  };
  // Whose a launch is, by its stack.
  struct Owner {
    std::string layer;
    std::string line;
    std::string operations;      // of an instruction of XLA, as is the next one
    std::string instruction;     // "loop_add_fusion.3"
    const char* pass = nullptr;  // null: the forward pass, or none
    bool inferred = false;
  };
  // Where a context's work runs.
  struct Place {
    uint32_t gpu = 0;
    std::string uuid;  // as the summary writes it
  };

  static constexpr size_t kMaxNames = 1u << 18;
  static constexpr size_t kMaxSets = 4096;
  static constexpr size_t kMaxGpus = 256;
  static constexpr size_t kMaxPlaces = 65536;

  // Each false where the payload is refused.
  bool Take(uint32_t source, uint16_t type, std::string_view payload);
  bool TakeProcess(uint32_t source, std::string_view payload);
  bool TakeDevice(uint32_t source, std::string_view payload);
  bool TakeLaunches(uint32_t source, std::string_view payload);
  bool TakeCopies(uint32_t source, std::string_view payload);
  bool TakeMarkers(uint32_t source, std::string_view payload);
  bool TakeMetricSet(std::string_view payload);
  bool TakeSamples(std::string_view payload);
  bool TakeTotals(std::string_view payload);

  void WriteLaunch(const ProcessState& process, const Launch& launch, const LaunchSegment& segment);
  const Owner& OwnerOf(uint32_t stack);
  const Name& NameOf(const ProcessState& process, uint32_t variant);
  std::string StreamName(const ProcessState& process, uint32_t context, uint32_t stream) const;
  std::string_view StringOf(const ProcessState& process, uint32_t id) const;
  // The number of a GPU, by the bytes of its identifier; empty ones share a number.
  uint32_t GpuOf(const std::string& uuid);
  const Place& PlaceOf(const ProcessState& process, uint32_t context);
  std::optional<uint64_t> StreamTrack(const ProcessState& process, uint32_t context,
                                      uint32_t stream, uint64_t start_ns, uint64_t end_ns);
  // Attributed rates as counters over a launch, where no other launch of the GPU overlaps it.
  void WriteRates(uint32_t gpu, const Launch& launch, const KernelMetrics::Metrics& metrics);
  uint32_t TotalsCounter(uint32_t gpu, int column);

  TraceSink* sink_;
  TrackLanes lanes_;
  KernelMetrics metrics_;
  ProcessTable processes_;
  StackTable stacks_;
  StackOwners stack_owners_{stacks_};
  NodeStacks* node_stacks_;
  std::unordered_map<uint32_t, Owner> owners_;  // by stack
  LaunchDecoder launches_;
  DecodedSamples samples_;
  std::map<std::pair<uint32_t, uint32_t>, Name> names_;   // (source, variant)
  std::map<std::pair<std::string, uint32_t>, Set> sets_;  // (device, identifier)
  std::map<std::string, uint32_t> gpus_;
  std::map<std::pair<uint32_t, uint32_t>, Place> places_;                    // (source, ordinal)
  std::map<std::pair<uint32_t, std::string>, uint32_t> sampled_counters_;    // (GPU, metric)
  std::map<std::pair<uint32_t, std::string_view>, uint32_t> rate_counters_;  // (GPU, metric)
  std::map<uint32_t, uint64_t> rates_until_ns_;                              // by GPU
  std::map<std::pair<uint32_t, int>, uint32_t> totals_counters_;
  uint32_t counters_ = 0;
  TraceExportResult result_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_PROFILE_TRACER_H_
