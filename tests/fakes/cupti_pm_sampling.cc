// PM sampling of the fake libcupti: counts the simulated GPU's work, of every process, in
// intervals.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "collector/sampler/driver/cupti_profiler_abi.h"
#include "tests/fakes/counter_image.h"
#include "tests/fakes/cupti_results.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"

namespace utlz::cupti {

struct PmSamplingObject {
  uint32_t device = 0;
  uint64_t interval_ns = 0;
  uint64_t hardware_buffer_bytes = 0;
  bool configured = false;
  bool running = false;
  bool overflowed = false;
  bool is_first_sample = true;
  uint64_t next_start_ns = 0;  // of the first sample that was not decoded
  uint64_t stopped_ns = 0;
  uint64_t next_work = 0;
  std::vector<fake::Work> open_work;  // not wholly before next_start_ns
};

}  // namespace utlz::cupti

namespace utlz::fake {
namespace {

using cupti::PmSamplingObject;

// What one sample takes of the hardware's buffer.
constexpr uint64_t kHardwareBytesPerSample = 4096;

CuptiResult CounterPermission() {
  const auto counters = ScenarioText("counters");
  if (counters == "denied") return kCuptiInsufficientPrivileges;
  if (counters == "busy") return kCuptiHardwareBusy;
  // CUPTI has a result for MIG; that MPS shows as "not supported" is an assumption.
  if (ScenarioNumber("mig", 0) != 0) return kCuptiMigNotSupported;
  if (ScenarioNumber("mps", 0) != 0) return kCuptiNotSupported;
  return kCuptiSuccess;
}

void CollectWork(PmSamplingObject* object) {
  SimulatedGpu& gpu = SimulatedGpu::Instance();
  const uint64_t count = gpu.count();
  for (; object->next_work < count; ++object->next_work) {
    Work work;
    if (gpu.Get(object->next_work, &work) && work.device == object->device &&
        work.end_ns > object->next_start_ns) {
      object->open_work.push_back(work);
    }
  }
  std::erase_if(object->open_work,
                [&](const Work& work) { return work.end_ns <= object->next_start_ns; });
}

CounterEntry NextSample(PmSamplingObject* object) {
  const uint64_t start_ns = object->next_start_ns;
  const uint64_t end_ns = start_ns + object->interval_ns;
  std::vector<Work> inside;
  for (const Work& work : object->open_work) {
    if (work.start_ns < end_ns && work.end_ns > start_ns) inside.push_back(work);
  }
  CounterEntry entry = {start_ns, end_ns, CountInterval(inside, start_ns, end_ns)};
  if (std::exchange(object->is_first_sample, false)) {
    entry.totals.dram_read_bytes = 1e15;  // the first sample of a session is garbage
  }
  object->next_start_ns = end_ns;
  return entry;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CuptiResult cuptiPmSamplingGetCounterAvailability(cupti::PmGetCounterAvailabilityParams* params) {
  if (const CuptiResult refused = CounterPermission();
      refused != kCuptiSuccess && refused != kCuptiHardwareBusy) {
    return refused;
  }
  if (params->image == nullptr) {
    params->image_size = 16;
  } else {
    std::memset(params->image, 0, params->image_size);
  }
  return kCuptiSuccess;
}

CuptiResult cuptiPmSamplingEnable(cupti::PmEnableParams* params) {
  if (const CuptiResult arranged = ArrangedResult("cuptiPmSamplingEnable")) return arranged;
  if (const CuptiResult refused = CounterPermission(); refused != kCuptiSuccess) return refused;
  if (params->device_index >= ScenarioNumber("devices", 1)) return kCuptiInvalidDevice;
  const uint32_t device = static_cast<uint32_t>(params->device_index);
  if (!SimulatedGpu::Instance().TakeCounters(device, getpid())) return kCuptiHardwareBusy;
  std::this_thread::sleep_for(std::chrono::milliseconds(ScenarioNumber("sampling_setup_ms", 0)));
  params->object = new PmSamplingObject;
  params->object->device = device;
  return kCuptiSuccess;
}

CuptiResult cuptiPmSamplingDisable(cupti::PmObjectParams* params) {
  SimulatedGpu::Instance().ReleaseCounters(params->object->device, getpid());
  delete params->object;
  return kCuptiSuccess;
}

CuptiResult cuptiPmSamplingSetConfig(cupti::PmSetConfigParams* params) {
  ConfigImage config;
  if (params->config_size < sizeof(config)) return kCuptiInvalidParameter;
  std::memcpy(&config, params->config, sizeof(config));
  if (config.magic != kConfigImageMagic) return kCuptiInvalidParameter;
  if (config.passes != 1) return kCuptiNotSupported;
  PmSamplingObject* object = params->object;
  object->interval_ns = std::max<uint64_t>(params->sampling_interval, 1000);
  object->hardware_buffer_bytes = params->hardware_buffer_size;
  object->configured = true;
  return kCuptiSuccess;
}

CuptiResult cuptiPmSamplingStart(cupti::PmObjectParams* params) {
  PmSamplingObject* object = params->object;
  if (!object->configured || object->running || object->overflowed) return kCuptiInvalidOperation;
  object->running = true;
  object->is_first_sample = true;
  object->next_start_ns = NowNs();
  object->open_work.clear();
  // Work that is still running was added before now.
  const uint64_t count = SimulatedGpu::Instance().count();
  constexpr uint64_t kLookBack = 4096;
  object->next_work = count > kLookBack ? count - kLookBack : 0;
  return kCuptiSuccess;
}

CuptiResult cuptiPmSamplingStop(cupti::PmObjectParams* params) {
  if (!params->object->running) return kCuptiInvalidOperation;
  params->object->running = false;
  params->object->stopped_ns = NowNs();
  return kCuptiSuccess;
}

CuptiResult cuptiPmSamplingDecodeData(cupti::PmDecodeDataParams* params) {
  PmSamplingObject* object = params->object;
  params->overflow = 0;
  const uint64_t until_ns = object->running ? NowNs() : object->stopped_ns;
  const uint64_t waiting =
      until_ns > object->next_start_ns ? (until_ns - object->next_start_ns) / object->interval_ns
                                       : 0;
  if (waiting * kHardwareBytesPerSample > object->hardware_buffer_bytes) {
    object->overflowed = true;
    params->overflow = 1;
    return kCuptiOutOfMemory;
  }
  CollectWork(object);
  params->stop_reason = cupti::kStopEndOfRecords;
  while (object->next_start_ns + object->interval_ns <= until_ns) {
    const uint64_t start_ns = object->next_start_ns;
    const bool was_first = object->is_first_sample;
    const CounterEntry entry = NextSample(object);
    if (!AppendEntry(params->counter_data_image, params->counter_data_image_size, entry)) {
      object->next_start_ns = start_ns;
      object->is_first_sample = was_first;
      params->stop_reason = cupti::kStopCounterDataFull;
      break;
    }
  }
  return kCuptiSuccess;
}

CuptiResult cuptiPmSamplingGetCounterDataSize(cupti::PmGetCounterDataSizeParams* params) {
  params->counter_data_size = CounterImageBytes(params->max_samples);
  return kCuptiSuccess;
}

CuptiResult cuptiPmSamplingCounterDataImageInitialize(
    cupti::PmCounterDataInitializeParams* params) {
  if (params->counter_data_size < CounterImageBytes(1)) return kCuptiInvalidParameter;
  InitializeImage(params->counter_data, params->counter_data_size);
  return kCuptiSuccess;
}

CuptiResult cuptiPmSamplingGetCounterDataInfo(cupti::PmGetCounterDataInfoParams* params) {
  CounterImageHeader header;
  if (!ReadHeader(params->counter_data_image, params->counter_data_image_size, &header)) {
    return kCuptiInvalidParameter;
  }
  params->total_samples = header.capacity;
  params->populated_samples = params->completed_samples = header.used;
  return kCuptiSuccess;
}

CuptiResult cuptiPmSamplingCounterDataGetSampleInfo(cupti::PmGetSampleInfoParams* params) {
  CounterEntry entry;
  if (!ReadEntry(params->counter_data_image, params->counter_data_image_size,
                 params->sample_index, &entry)) {
    return kCuptiInvalidParameter;
  }
  params->start_timestamp = entry.start_ns;
  params->end_timestamp = entry.end_ns;
  return kCuptiSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace utlz::fake
