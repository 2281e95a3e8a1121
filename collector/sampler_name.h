// What the sampler process is called in lists of processes.
#ifndef UTLZ_COLLECTOR_SAMPLER_NAME_H_
#define UTLZ_COLLECTOR_SAMPLER_NAME_H_

namespace utlz {

inline constexpr char kSamplerProcessName[] = "utlz-sampler";

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_NAME_H_
