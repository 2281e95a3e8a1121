#include "collector/counters/kernel_part.h"

#include <algorithm>
#include <utility>

namespace utlz {
namespace {

KernelPart PartWithoutCounters(uint64_t minimum_ns, uint64_t maximum_ns, uint32_t number,
                               uint32_t parts) {
  KernelPart part;
  part.part = number;
  part.parts = parts;
  part.minimum_ns = minimum_ns;
  part.maximum_ns = maximum_ns;
  return part;
}

}  // namespace

std::vector<KernelPart> WholeKernel(std::vector<KernelPart> parts) {
  if (parts.empty() || parts.front().parts < 2) return parts;
  std::sort(parts.begin(), parts.end(),
            [](const KernelPart& a, const KernelPart& b) { return a.minimum_ns < b.minimum_ns; });
  std::vector<KernelPart> whole;
  uint64_t until_ns = 0;
  uint32_t next = 0;
  for (KernelPart& part : parts) {
    if (part.minimum_ns > until_ns) {
      whole.push_back(PartWithoutCounters(until_ns, part.minimum_ns, next, part.parts));
    }
    until_ns = part.maximum_ns;
    next = part.part + 1;
    whole.push_back(std::move(part));
  }
  if (next < whole.back().parts) {
    whole.push_back(PartWithoutCounters(until_ns, UINT64_MAX, next, whole.back().parts));
  }
  return whole;
}

}  // namespace utlz
