// Reads a profile's frames for what ran from where: kernels and copies by GPU, stream, process,
// NVTX ranges and phase of the run. Payloads are untrusted: one that does not decode is counted and
// skipped. Memory grows with names and sites, each bounded, not with the length of the run. Thread
// safety: none.
#ifndef UTLZ_TOOLS_EXPORT_WORK_READER_H_
#define UTLZ_TOOLS_EXPORT_WORK_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/decode/launch_decoder.h"
#include "collector/run/process_table.h"
#include "collector/run/stack_table.h"
#include "proto/summary.pb.h"
#include "tools/export/call_join.h"
#include "tools/export/gap_times.h"
#include "tools/export/idle_before.h"
#include "tools/export/kernel_metrics.h"
#include "tools/export/node_stacks.h"
#include "tools/export/range_paths.h"
#include "tools/export/work_sites.h"

namespace utlz {

struct WorkCounts {
  uint64_t kernels = 0;
  uint64_t copies = 0;
  uint64_t frames_refused = 0;
};

class WorkReader {
 public:
  static constexpr uint32_t kNoRow = UINT32_MAX;

  // All of these outlive it; the paths are ordered.
  WorkReader(const Summary& summary, const GapTimes& gap_times, RangePaths* paths,
             NodeStacks* node_stacks);

  void Consume(uint32_t source, uint16_t type, std::string_view payload);
  void Finish();

  const WorkSites& sites() const { return sites_; }
  const StackTable& stacks() const { return stacks_; }
  const WorkCounts& counts() const { return counts_; }
  // Idle time of this GPU before copies that no traced kernel followed; after Finish().
  double OwnerlessIdleNs(uint32_t gpu) const { return idle_.OwnerlessNs(gpu); }
  std::string_view NameOf(const WorkSite& site) const { return names_[site.name]; }
  // Null where the process did not say what it is.
  const Process* ProcessOf(uint32_t source) const;
  // By WorkSite::gpu; what was launched on no known GPU has an empty one.
  const std::vector<std::string>& gpu_uuids() const { return gpu_uuids_; }

 private:
  static constexpr size_t kMaxNames = 1u << 18;
  static constexpr size_t kMaxGpus = 256;
  static constexpr size_t kMaxVariants = 1u << 20;  // of all processes

  // What a variant of a process is, once looked up.
  struct Variant {
    uint32_t name = 0;
    bool profiler = false;
    const std::vector<KernelMetrics::Metrics>* kinds = nullptr;  // rows of the report, if any
  };
  bool Take(uint32_t source, uint16_t type, std::string_view payload);
  bool TakeDevice(uint32_t source, std::string_view payload);
  bool TakeLaunches(uint32_t source, std::string_view payload);
  bool TakeCopies(uint32_t source, std::string_view payload);
  bool TakeWindow(uint32_t source, std::string_view payload);
  void AddLaunch(const ProcessState& process, const Launch& launch, const LaunchSegment& segment);
  void AddJoined(const JoinedLaunch& launch);
  uint32_t IdleSiteOf(const JoinedLaunch& launch, uint32_t site);

  uint32_t NameId(std::string name);
  uint32_t GpuOf(const std::string& uuid);
  uint32_t GpuOfContext(const ProcessState& process, uint32_t context);
  const Variant& VariantOf(const ProcessState& process, uint32_t variant, uint32_t gpu);
  RunPhase PhaseAt(uint64_t time_ns) const;

  // On the profile's clock.
  struct SteadyTime {
    uint64_t start_ns = 0;
    uint64_t end_ns = UINT64_MAX;
  };
  static SteadyTime SteadyTimeOf(const Summary& summary);

  KernelMetrics metrics_;
  const GapTimes& gap_times_;
  SteadyTime steady_;
  WorkSites sites_;
  IdleBefore idle_;
  CallJoin join_;
  ProcessTable processes_;
  StackTable stacks_;
  NodeStacks* node_stacks_;
  LaunchDecoder launches_;
  WorkCounts counts_;
  std::unordered_map<std::string, uint32_t> name_ids_;
  std::vector<std::string> names_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Variant> variants_;  // (source, variant, GPU)
  std::map<std::string, uint32_t> gpus_;
  std::vector<std::string> gpu_uuids_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_WORK_READER_H_
