// Commands from collector to sampler: fixed-size records on the channel.
#ifndef UTLZ_COLLECTOR_SAMPLING_SAMPLER_COMMAND_H_
#define UTLZ_COLLECTOR_SAMPLING_SAMPLER_COMMAND_H_

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
};

inline constexpr uint32_t kSamplerCommandMagic = 0x43535a55;

struct SamplerCommand {
  uint32_t magic;  // kSamplerCommandMagic
  uint32_t kind;   // SamplerCommandKind
  uint64_t argument;
  uint8_t uuid[16];
};
static_assert(sizeof(SamplerCommand) == 32);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLING_SAMPLER_COMMAND_H_
