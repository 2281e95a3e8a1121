// Takes one snapshot a tick of every GPU that NVML lists.
#ifndef UTLZ_TOOLS_TOP_SNAPSHOT_READER_H_
#define UTLZ_TOOLS_TOP_SNAPSHOT_READER_H_

#include <map>
#include <memory>
#include <vector>

#include "collector/sampler/driver/nvml_table.h"
#include "tools/processes/process_names.h"
#include "tools/top/gpu_reader.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

// Not thread-safe.
class SnapshotReader {
 public:
  explicit SnapshotReader(const NvmlTable& table);

  Snapshot Read(uint64_t time_ns);

 private:
  void NameProcesses(Snapshot* snapshot);

  const NvmlTable table_;
  std::vector<std::unique_ptr<GpuReader>> gpus_;
  // Of the tick before. A process keeps its names for as long as NVML lists it in every tick.
  std::map<pid_t, ProcessNames> names_;
};

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SNAPSHOT_READER_H_
