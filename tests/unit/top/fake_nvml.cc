// A libnvidia-ml with one GPU that has GPM, for tests of the whole program.
#include <unistd.h>

#include <cstdio>

#include "collector/sampler/driver/nvml_abi.h"

namespace {

using utlz::nvml::DeviceHandle;
using utlz::nvml::GpmSampleHandle;

int device = 0;
int samples[2] = {};
int allocated = 0;

int Text(const char* text, char* output, unsigned size) {
  std::snprintf(output, size, "%s", text);
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
const char* nvmlErrorString(int) { return "an error"; }
int nvmlSystemGetDriverVersion(char* output, unsigned size) { return Text("1.2", output, size); }
int nvmlDeviceGetHandleByUUID(const char*, DeviceHandle**) { return 3; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, DeviceHandle** handle) {
  *handle = reinterpret_cast<DeviceHandle*>(&device);
  return 0;
}
int nvmlDeviceGetName(DeviceHandle*, char* output, unsigned size) {
  return Text("Fake GPU", output, size);
}
int nvmlDeviceGetUtilizationRates(DeviceHandle*, utlz::nvml::Utilization* utilization) {
  utilization->gpu = 80;
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(DeviceHandle*, unsigned* count,
                                            utlz::nvml::ProcessInfo* processes) {
  processes[0].pid = static_cast<unsigned>(getppid());
  processes[0].used_gpu_memory = 5ull << 20;
  *count = 1;
  return 0;
}
int nvmlGpmQueryDeviceSupport(DeviceHandle*, utlz::nvml::GpmSupport* support) {
  support->supported = 1;
  return 0;
}
int nvmlGpmSampleAlloc(GpmSampleHandle** sample) {
  *sample = reinterpret_cast<GpmSampleHandle*>(&samples[allocated++ % 2]);
  return 0;
}
int nvmlGpmSampleFree(GpmSampleHandle*) { return 0; }
int nvmlGpmSampleGet(DeviceHandle*, GpmSampleHandle*) { return 0; }
int nvmlGpmMetricsGet(utlz::nvml::GpmMetricsGet* get) {
  for (unsigned i = 0; i < get->metric_count; ++i) {
    get->metric[i].result = get->metric[i].id == utlz::nvml::kGpmSmActive ? 0 : 3;
    get->metric[i].value = 20;
  }
  return 0;
}

}  // extern "C"
