// An NVML with one GPU for tests. Its functions are plain pointers, so what they say is here.
#ifndef UTLZ_TESTS_UNIT_TOP_FAKE_GPU_H_
#define UTLZ_TESTS_UNIT_TOP_FAKE_GPU_H_

#include <unistd.h>

#include <cstdint>

#include "collector/sampler/driver/nvml_table.h"

namespace utlz::top {

struct FakeGpu {
  static inline unsigned long long used_bytes = 0;
  static inline unsigned gpm_supported = 1;
  static inline int samples_alive = 0;
  static inline uint64_t samples_taken = 0;

  static NvmlTable Table() {
    used_bytes = 1000;
    gpm_supported = 1;
    NvmlTable table;
    table.device_get_count = [](unsigned* count) {
      *count = 1;
      return 0;
    };
    table.device_get_handle_by_index = [](unsigned, nvml::DeviceHandle** handle) {
      *handle = nullptr;
      return 0;
    };
    table.device_get_utilization = [](nvml::DeviceHandle*, nvml::Utilization* utilization) {
      utilization->gpu = 80;
      return 0;
    };
    table.device_get_memory = [](nvml::DeviceHandle*, nvml::Memory* memory) {
      memory->used = used_bytes;
      memory->total = 5000;
      return 0;
    };
    table.device_get_power = [](nvml::DeviceHandle*, unsigned* milliwatts) {
      *milliwatts = 690'000;
      return 0;
    };
    table.device_get_temperature = [](nvml::DeviceHandle*, unsigned, unsigned*) { return 3; };
    table.device_get_compute_processes = [](nvml::DeviceHandle*, unsigned* count,
                                            nvml::ProcessInfo* processes) {
      processes[0].pid = static_cast<unsigned>(getpid());
      processes[0].used_gpu_memory = ~0ull;
      *count = 1;
      return 0;
    };
    table.gpm_query_support = [](nvml::DeviceHandle*, nvml::GpmSupport* support) {
      support->supported = gpm_supported;
      return 0;
    };
    table.gpm_sample_alloc = [](nvml::GpmSampleHandle** sample) {
      *sample = reinterpret_cast<nvml::GpmSampleHandle*>(new uint64_t(0));
      ++samples_alive;
      return 0;
    };
    table.gpm_sample_free = [](nvml::GpmSampleHandle* sample) {
      delete reinterpret_cast<uint64_t*>(sample);
      --samples_alive;
      return 0;
    };
    table.gpm_sample_get = [](nvml::DeviceHandle*, nvml::GpmSampleHandle* sample) {
      *reinterpret_cast<uint64_t*>(sample) = ++samples_taken;
      return 0;
    };
    table.gpm_metrics_get = [](nvml::GpmMetricsGet* get) {
      // Two readings that follow each other.
      if (*reinterpret_cast<uint64_t*>(get->sample1) + 1 !=
          *reinterpret_cast<uint64_t*>(get->sample2)) {
        return 2;
      }
      for (unsigned i = 0; i < get->metric_count; ++i) {
        get->metric[i].result = get->metric[i].id == nvml::kGpmTensorActive ? 3 : 0;
        get->metric[i].value = get->metric[i].id;
      }
      return 0;
    };
    return table;
  }
};

}  // namespace utlz::top

#endif  // UTLZ_TESTS_UNIT_TOP_FAKE_GPU_H_
