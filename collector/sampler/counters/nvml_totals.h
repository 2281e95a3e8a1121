// Totals of one GPU as NVML reports them, a few times a second: what is always on, whatever becomes
// of the counters. Where the GPU has GPM (Hopper and later), with its activity percentages.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_NVML_TOTALS_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_NVML_TOTALS_H_

#include <memory>
#include <string>

#include "collector/sampler/driver/nvml_table.h"
#include "proto/profile.pb.h"

namespace utlz {

// Not thread-safe. The table must outlive it.
class NvmlTotals {
 public:
  // nullptr where NVML does not know the GPU.
  static std::unique_ptr<NvmlTotals> Create(const NvmlTable& table, const std::string& uuid);

  NvmlTotals(const NvmlTotals&) = delete;
  NvmlTotals& operator=(const NvmlTotals&) = delete;
  ~NvmlTotals();

  // GPM percentages are over the time since the reading before, so the first has none.
  bool has_gpm() const { return older_ != nullptr; }

  // Takes one reading. Costs some 0.5 ms of CPU, the first of a batch another 5: NVML works as long
  // for the energy (docs/design/sampler.md), which the others are therefore without.
  void Read();
  // The last one, with the energy.
  void ReadLast();

  // By the last reading, nvml::kClocks…; 0 where NVML does not tell.
  uint64_t clock_limits() const { return clock_limits_; }

  int readings() const { return batch_.time_ns_size(); }
  // Also counts the processes on the GPU, which costs more: NVML asks for each.
  DeviceTotalsBatch Take();

 private:
  NvmlTotals(const NvmlTable& table, nvml::DeviceHandle* handle, std::string uuid);
  void StartGpm();
  void Read(bool with_energy);
  void ReadPlain(bool with_energy);
  void ReadGpm();
  void CountProcesses();

  const NvmlTable& table_;
  nvml::DeviceHandle* const handle_;
  const std::string uuid_;
  nvml::GpmSampleHandle* older_ = nullptr;  // null where there is no GPM
  nvml::GpmSampleHandle* newer_ = nullptr;
  bool has_older_ = false;
  uint64_t clock_limits_ = 0;
  std::unique_ptr<nvml::GpmMetricsGet> gpm_;  // 40 KB, kept between readings
  DeviceTotalsBatch batch_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_NVML_TOTALS_H_
