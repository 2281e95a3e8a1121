// Which counters say what the sampler wants to know. Names differ from chip to chip: every role has
// a list, the cheapest first, and the host API says which of them a chip has.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_METRIC_CANDIDATES_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_METRIC_CANDIDATES_H_

#include <span>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

struct MetricCandidate {
  const char* name;   // full, with rollup
  const char* unit;   // "byte", "cycle", "instruction"
  double resolution;  // smallest step worth sending
};

struct RoleCandidates {
  MetricRole role;
  std::vector<MetricCandidate> candidates;
  // A set without this role is of no use.
  bool required = false;
};

// Roles of the base set, most important first: bytes, tensor pipe, activity, clock. It serves most
// windows, since every counter that exists once per SM costs the host about 4.6 KB and several
// microseconds a sample.
const std::vector<RoleCandidates>& BaseRoles();

// The base roles and, as far as one pass holds them: tensor pipe by kind, FMA and FP64 pipes, L2,
// PCIe and NVLink bytes. On GH100, FP64 tensor work is what the tensor pipe did beyond its HMMA and
// IMMA parts.
const std::vector<RoleCandidates>& ExtendedRoles();

// What bounds floating-point work outside the tensor cores, with the kernel's code
// (collector/kernel_code/): warp instructions by pipe, and thread instructions, which
// tell how many lanes took part.
const std::vector<RoleCandidates>& InstructionRoles();

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_METRIC_CANDIDATES_H_
