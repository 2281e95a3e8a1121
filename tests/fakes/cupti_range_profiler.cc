// The range profiler of the fake libcupti: user ranges with user replay in one pass. Pushing and
// popping wait for the context, as the real ones do.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "inject/driver/cupti_abi.h"
#include "tests/fakes/counter_image.h"
#include "tests/fakes/cuda_link.h"
#include "tests/fakes/cupti_results.h"
#include "tests/fakes/cupti_state.h"
#include "tests/fakes/misuse.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"
#include "tests/fakes/visible_devices.h"

namespace utlz::fake {
namespace {

namespace abi = agent::cupti;

struct RangeProfiler {
  CUcontext context = nullptr;
  uint32_t device = 0;
  uint8_t* counter_data = nullptr;
  size_t counter_data_bytes = 0;
  size_t max_ranges = 0;
  bool started = false;
  uint64_t open_start_ns = 0;  // 0: no range is open
  size_t dropped = 0;
  std::vector<CounterEntry> decodable;
};

std::atomic<uint32_t> enabled{0};
std::atomic<uint32_t> counting{0};
std::atomic<uint32_t> being_set_up{0};
std::atomic<uint32_t> pushed{0};

RangeProfiler* FromParams(void* profiler) {
  if (profiler == nullptr) Misuse("a range-profiler call without its object");
  return static_cast<RangeProfiler*>(profiler);
}

void Drain(const RangeProfiler& profiler) { FindCuda()->drain_context(profiler.context); }

Totals CountSince(uint32_t device, uint64_t start_ns, uint64_t end_ns) {
  SimulatedGpu& gpu = SimulatedGpu::Instance();
  std::vector<Work> inside;
  for (uint64_t i = gpu.count(); i-- > 0;) {
    Work work;
    if (!gpu.Get(i, &work)) break;
    if (work.device == device && work.end_ns > start_ns && work.start_ns < end_ns) {
      inside.push_back(work);
    }
  }
  return CountInterval(inside, start_ns, end_ns);
}

}  // namespace

uint32_t RangeProfilersEnabled() { return enabled; }

#pragma GCC visibility push(default)
extern "C" {

uint32_t FakeCuptiRangesCounting() { return counting; }
uint32_t FakeCuptiRangesBeingSetUp() { return being_set_up; }
uint32_t FakeCuptiRangesPushed() { return pushed; }

CuptiResult cuptiRangeProfilerEnable(abi::RangeEnableParams* params) {
  if (const CuptiResult arranged = ArrangedResult("cuptiRangeProfilerEnable")) return arranged;
  const auto counters = ScenarioText("counters");
  if (counters == "denied") return kCuptiInsufficientPrivileges;
  if (counters == "busy") return kCuptiHardwareBusy;
  ContextFacts facts{};
  const CUcontext context = reinterpret_cast<CUcontext>(params->context);
  if (FindCuda() == nullptr || !FindCuda()->describe_context(context, &facts)) {
    return kCuptiInvalidContext;
  }
  // As long as a real one takes to start.
  MakeMoreOfProfilerLibrary();
  ++being_set_up;
  std::this_thread::sleep_for(std::chrono::milliseconds(ScenarioNumber("range_setup_ms", 0)));
  UseProfilerLibrary();
  --being_set_up;
  RangeProfiler* profiler = new RangeProfiler;
  profiler->context = context;
  profiler->device = PhysicalDevice(facts.device);
  params->profiler = profiler;
  ++enabled;
  return kCuptiSuccess;
}

CuptiResult cuptiRangeProfilerDisable(abi::RangeObjectParams* params) {
  UseProfilerLibrary();
  RangeProfiler* profiler = FromParams(params->profiler);
  if (profiler->started) return kCuptiInvalidOperation;
  delete profiler;
  --enabled;
  return kCuptiSuccess;
}

CuptiResult cuptiRangeProfilerGetCounterDataSize(abi::RangeCounterDataSizeParams* params) {
  params->counter_data_bytes = CounterImageBytes(params->max_ranges);
  return kCuptiSuccess;
}

CuptiResult cuptiRangeProfilerCounterDataImageInitialize(
    abi::RangeCounterDataInitializeParams* params) {
  if (params->counter_data_bytes < CounterImageBytes(1)) return kCuptiInvalidParameter;
  InitializeImage(params->counter_data, params->counter_data_bytes);
  return kCuptiSuccess;
}

CuptiResult cuptiRangeProfilerSetConfig(abi::RangeSetConfigParams* params) {
  ConfigImage config;
  if (params->config_bytes < sizeof(config)) return kCuptiInvalidParameter;
  std::memcpy(&config, params->config, sizeof(config));
  if (config.magic != kConfigImageMagic) return kCuptiInvalidParameter;
  if (params->range_mode != abi::kUserRange || params->replay_mode != abi::kUserReplay ||
      config.passes != 1) {
    return kCuptiInvalidOperation;
  }
  RangeProfiler* profiler = FromParams(params->profiler);
  profiler->counter_data = params->counter_data;
  profiler->counter_data_bytes = params->counter_data_bytes;
  profiler->max_ranges = params->max_ranges_per_pass;
  return kCuptiSuccess;
}

CuptiResult cuptiRangeProfilerStart(abi::RangeObjectParams* params) {
  if (const CuptiResult arranged = ArrangedResult("cuptiRangeProfilerStart")) return arranged;
  RangeProfiler* profiler = FromParams(params->profiler);
  if (profiler->counter_data == nullptr || profiler->started) return kCuptiInvalidOperation;
  if (!SimulatedGpu::Instance().TakeCounters(profiler->device, getpid())) {
    return kCuptiHardwareBusy;
  }
  profiler->started = true;
  ++counting;
  return kCuptiSuccess;
}

CuptiResult cuptiRangeProfilerStop(abi::RangeStopParams* params) {
  RangeProfiler* profiler = FromParams(params->profiler);
  if (!profiler->started || profiler->open_start_ns != 0) return kCuptiInvalidOperation;
  SimulatedGpu::Instance().ReleaseCounters(profiler->device, getpid());
  profiler->started = false;
  --counting;
  params->all_passes_submitted = 1;
  return kCuptiSuccess;
}

CuptiResult cuptiRangeProfilerPushRange(abi::RangePushParams* params) {
  RangeProfiler* profiler = FromParams(params->profiler);
  if (!profiler->started || profiler->open_start_ns != 0) return kCuptiInvalidOperation;
  ++pushed;
  Drain(*profiler);
  profiler->open_start_ns = NowNs();
  return kCuptiSuccess;
}

CuptiResult cuptiRangeProfilerPopRange(abi::RangeObjectParams* params) {
  RangeProfiler* profiler = FromParams(params->profiler);
  if (profiler->open_start_ns == 0) return kCuptiInvalidOperation;
  Drain(*profiler);
  const uint64_t end_ns = NowNs();
  if (profiler->decodable.size() < profiler->max_ranges) {
    profiler->decodable.push_back({profiler->open_start_ns, end_ns,
                                   CountSince(profiler->device, profiler->open_start_ns, end_ns)});
  } else {
    ++profiler->dropped;
  }
  profiler->open_start_ns = 0;
  return kCuptiSuccess;
}

CuptiResult cuptiRangeProfilerDecodeData(abi::RangeDecodeParams* params) {
  UseProfilerLibrary();
  RangeProfiler* profiler = FromParams(params->profiler);
  Drain(*profiler);
  params->ranges_dropped = profiler->dropped;
  for (const CounterEntry& entry : profiler->decodable) {
    if (!AppendEntry(profiler->counter_data, profiler->counter_data_bytes, entry)) {
      ++params->ranges_dropped;
    }
  }
  profiler->decodable.clear();
  profiler->dropped = 0;
  return kCuptiSuccess;
}

CuptiResult cuptiRangeProfilerGetCounterDataInfo(abi::RangeCounterDataInfoParams* params) {
  CounterImageHeader header;
  if (!ReadHeader(params->counter_data, params->counter_data_bytes, &header)) {
    return kCuptiInvalidParameter;
  }
  params->ranges = header.used;
  return kCuptiSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace utlz::fake
