// Commands to a sampler: fixed-size records, from its collector, and from the samplers of other
// collectors that share its counters (docs/design/sampler.md).
#ifndef UTLZ_COLLECTOR_SAMPLER_CHANNEL_SAMPLER_COMMAND_H_
#define UTLZ_COLLECTOR_SAMPLER_CHANNEL_SAMPLER_COMMAND_H_

#include <cstdint>

namespace utlz {

enum SamplerCommandKind : uint32_t {
  kSamplerUseDevice = 1,    // uuid
  kSamplerYield = 2,        // give the counters up
  kSamplerResume = 3,       // take them back
  kSamplerSetDuty = 4,      // argument: millionths
  kSamplerStartWindow = 5,  // open a window now, or be ready to
  kSamplerQuit = 6,
  kSamplerWindowAt = 7,  // uuid; argument: when a window is to begin, CLOCK_REALTIME
  // The first of another sampler. uuid; argument: SubscriberKind in the upper half,
  // kSamplerShareVersion in the lower.
  kSamplerSubscribe = 8,
  kSamplerProgress = 9,  // uuid; argument: SamplingProgress, as it stands
  // uuid; argument: nanoseconds of CPU time for which its samples were attributed since the last.
  kSamplerCollectorSpent = 10,
};

// What a collector knows of a GPU's load and of its kernels' counters.
enum SamplingProgress : uint64_t {
  kProgressSteady = 1,     // the load repeats itself: its start-up is over
  kProgressBaseKnown = 2,  // more samples of the base set would add little
  // The GPU works, and its kernels are recorded without a pause now, and perhaps never again.
  kProgressPerhapsOnce = 4,
};
constexpr uint64_t ProgressOf(bool steady, bool base_known, bool perhaps_once) {
  return uint64_t{steady} * kProgressSteady | uint64_t{base_known} * kProgressBaseKnown |
         uint64_t{perhaps_once} * kProgressPerhapsOnce;
}

// What a collector makes of windows.
enum class SubscriberKind : uint32_t {
  kAlways = 0,     // its processes trace all the time: any window will do
  kPlanned = 1,    // its processes trace in windows that are announced to them
  kYieldOnly = 2,  // it takes no samples, and only asks for the counters now and then
};

// Samplers of other versions do not share.
inline constexpr uint32_t kSamplerShareVersion = 2;

inline constexpr uint32_t kSamplerCommandMagic = 0x43535a55;

struct SamplerCommand {
  uint32_t magic;  // kSamplerCommandMagic
  uint32_t kind;   // SamplerCommandKind
  uint64_t argument;
  uint8_t uuid[16];
};
static_assert(sizeof(SamplerCommand) == 32);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_CHANNEL_SAMPLER_COMMAND_H_
