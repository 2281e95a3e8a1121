// The variant by which an agent would announce a recorded kernel.
#ifndef UTLZ_BENCH_DIAGNOSIS_KERNEL_VARIANT_H_
#define UTLZ_BENCH_DIAGNOSIS_KERNEL_VARIANT_H_

#include <cstdint>

#include "bench/diagnosis/recorded_load.h"
#include "proto/profile.pb.h"

namespace utlz {

// The node of a graph that launches it; 0: none does.
struct GraphPlace {
  uint32_t graph = 0;
  uint64_t node = 0;
};

// `name`: the number of the kernel's name among the strings.
void AddVariant(const RecordedKernel& kernel, uint32_t name, const GraphPlace& place,
                Variants* variants);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_KERNEL_VARIANT_H_
