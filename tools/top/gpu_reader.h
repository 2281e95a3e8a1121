// Reads one GPU through NVML. GPM, where the GPU has it, holds no counters and slows nothing.
#ifndef UTLZ_TOOLS_TOP_GPU_READER_H_
#define UTLZ_TOOLS_TOP_GPU_READER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "collector/sampler/driver/nvml_table.h"
#include "proto/profile.pb.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

// Not thread-safe. The table must outlive it.
class GpuReader {
 public:
  GpuReader(const NvmlTable& table, unsigned index, nvml::DeviceHandle* handle);
  GpuReader(const GpuReader&) = delete;
  GpuReader& operator=(const GpuReader&) = delete;
  ~GpuReader();

  bool has_gpm() const { return older_ != nullptr; }

  // What `utlz calibrate` attained here, if anything.
  void SetCeilings(const std::vector<DeviceCeilings>& all);

  // `time_ns` orders the readings and is the denominator of rates. Processes have no user and no
  // command yet. GPM's values are over the time since the reading before, so the first has none.
  GpuSnapshot Read(uint64_t time_ns);

 private:
  struct MemoryReading {
    uint64_t time_ns;
    uint64_t used_bytes;
  };

  void ReadFixed();
  void StartGpm();
  void ReadState(GpuSnapshot* gpu) const;
  void ReadMemory(uint64_t time_ns, GpuSnapshot* gpu);
  void ReadGpm(GpuSnapshot* gpu);
  void ReadProcesses(GpuSnapshot* gpu) const;

  const NvmlTable& table_;
  nvml::DeviceHandle* const handle_;
  GpuSnapshot fixed_;                       // what does not change
  nvml::GpmSampleHandle* older_ = nullptr;  // null where there is no GPM
  nvml::GpmSampleHandle* newer_ = nullptr;
  bool has_older_ = false;
  std::unique_ptr<nvml::GpmMetricsGet> gpm_;  // 40 KB, kept between readings
  std::deque<MemoryReading> memory_;          // of the last minute
};

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_GPU_READER_H_
