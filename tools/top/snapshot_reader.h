// Takes one snapshot a tick of every GPU that NVML lists.
#ifndef UTLZ_TOOLS_TOP_SNAPSHOT_READER_H_
#define UTLZ_TOOLS_TOP_SNAPSHOT_READER_H_

#include <map>
#include <memory>
#include <vector>

#include "collector/sampler/driver/nvml_table.h"
#include "tools/processes/process_names.h"
#include "tools/top/gpu_reader.h"
#include "tools/top/live_readers.h"
#include "tools/top/process_state.h"
#include "tools/top/sampled_gpus.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

// Not thread-safe.
class SnapshotReader {
 public:
  // `live`: reads the collectors' snapshots; may be null, else it must outlive this.
  explicit SnapshotReader(const NvmlTable& table, const std::vector<DeviceCeilings>& ceilings = {},
                          LiveReaders* live = nullptr);

  // Takes samples of the counters, by a process of their own, where a GPU has no GPM.
  void SampleWhereNoGpm();

  // `time_ns` since 1970.
  Snapshot Read(uint64_t time_ns);

 private:
  void NameProcesses(Snapshot* snapshot);

  const NvmlTable table_;
  LiveReaders* const live_;
  ProcessStates states_;
  std::unique_ptr<SampledGpus> sampled_;
  std::vector<std::unique_ptr<GpuReader>> gpus_;
  // Of the tick before. A process keeps its names for as long as NVML lists it in every tick.
  std::map<pid_t, ProcessNames> names_;
};

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SNAPSHOT_READER_H_
