// What a test arranges from outside: the variable UTLZ_FAKE holds `key=value` pairs, separated by
// commas, read by both fakes in every process. Where the environment was cleaned, as the sampler's
// is, the file .utlz_fake in the home folder holds the same text.
//
//   gpu=<path>                file that processes of one simulated GPU map; counters need it
//   driver_version=13000      cuDriverGetVersion
//   cupti_version=130000      cuptiGetVersion, and the record layouts that go with it
//   devices=1                 how many GPUs there are
//   cu_init=0                 what cuInit returns
//   mig=1, mps=1              how the device says that it is shared
//   cupti_version@<folder>=28  of the libcupti that was loaded from a folder of this name
//   subscriber_taken=1        subscribing and enabling fail as under another profiler
//   finalize_ms=50            cuptiFinalize takes as long, and fails if another thread uses CUPTI
//   flush_ms=200              cuptiActivityFlushAll takes as long where all is to be handed over
//   held_buffers=1            a flush that is not forced leaves buffers that are not full while any
//                             record is incomplete
//   register_ms=200           cuptiActivityRegisterCallbacks takes as long
//   range_setup_ms=200        cuptiRangeProfilerEnable takes as long
//   counters=denied|busy      PM sampling and ranges fail so
//   sampling_setup_ms=200     enabling PM sampling takes as long, as it does on a GPU
//   pool_used_bytes=5         what the stream-ordered allocator has in use, of three times as much
//   nvml_milliwatts=500000    of each device, always; else NVML, where it is asked, tells neither
//                             power nor energy
//   instant=1                 waiting for the GPU takes no time
//   ptx_kernel_ns=50000       how long a kernel takes that was compiled from PTX
//   launch_us=200             a call that is called back lasts for so long before it ends
//   kept_numbers_after=500    after so many calls each thread but the main one keeps the number of
//                             a call for all that it calls from then on
//   fail.<function>=<code>    a CUPTI function that always returns this code
#ifndef UTLZ_TESTS_FAKES_SCENARIO_H_
#define UTLZ_TESTS_FAKES_SCENARIO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace utlz::fake {

inline constexpr char kScenarioVariable[] = "UTLZ_FAKE";
inline constexpr char kScenarioFile[] = ".utlz_fake";

std::optional<std::string> ScenarioText(std::string_view key);
uint64_t ScenarioNumber(std::string_view key, uint64_t otherwise);

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_SCENARIO_H_
