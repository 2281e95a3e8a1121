// What causes are planted with (causes.h): lost time, copies, and items put into steps.
#ifndef UTLZ_BENCH_DIAGNOSIS_PLANTING_H_
#define UTLZ_BENCH_DIAGNOSIS_PLANTING_H_

#include <cstddef>
#include <functional>

#include "bench/diagnosis/drafts.h"

namespace utlz {

// Without pinned memory. Copies from pinned memory: drafts.h.
inline constexpr double kPageableBytesPerNs = 12;

// ns that a cause has to add to `healthy_ns`, for them to be `share` of the sum.
double LostNs(double share, double healthy_ns);

Item Copy(CopyKind kind, double time_ns, double bytes, bool pageable = false);

// `change` is called with each step and the time that it has to lose.
void EachStep(double share, Draft* draft, const std::function<void(double, Step*)>& change);

// `items` at `places` points, evenly over the step's inside.
void InsertEvenly(const Step& items, size_t places, Step* step);

// Each kernel takes `factor` times as long.
void Stretch(double factor, Step* step);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_PLANTING_H_
