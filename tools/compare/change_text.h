// Numbers of a comparison as a person reads them. Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_CHANGE_TEXT_H_
#define UTLZ_TOOLS_COMPARE_CHANGE_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace utlz {

// Four significant digits with a prefix: "12.34 ms", "3.210 TB". Shares as "45.6 %". `unit` is one
// of QuantityChange::unit. Absent numbers are "–".
std::string NumberText(std::optional<double> value, std::string_view unit);
// "+1.2 %", "−0.34 ms": as NumberText, always with its sign.
std::string SignedNumberText(std::optional<double> value, std::string_view unit);

// As SignedNumberText, for after − before of the same unit: shares differ by points, "+1.2 pt".
std::string DeltaText(std::optional<double> delta, std::string_view unit);
// The half-width of a 95 % interval with this standard error; of shares in points.
std::string IntervalText(std::optional<double> error, std::string_view unit);

// The name of a QuantityChange as words, its unit left out: "GPU busy" of "gpu_busy_share".
std::string QuantityText(std::string_view name);

// What stands behind the name of a layer that repeats: " ×48", or " ×48→47"; else nothing.
std::string InstancesText(size_t before, size_t after);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_CHANGE_TEXT_H_
