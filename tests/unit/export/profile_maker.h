// Writes a small profile: one process, two streams, a copy, nested NVTX ranges, counters.
#ifndef UTLZ_TESTS_UNIT_EXPORT_PROFILE_MAKER_H_
#define UTLZ_TESTS_UNIT_EXPORT_PROFILE_MAKER_H_

#include <cstdint>
#include <string>

namespace utlz {

inline constexpr uint64_t kStartNs = 1'760'000'000'000'000'000;
inline constexpr char kHostileName[] = "evil\",\"ph\":\"X\n\xff</script>";

// Three kernels: 0–1000 and 1500–2500 ns on stream 7, both of them "gemm", and 500–900 ns on stream
// 8. A damaged launch frame comes after them, and a summary in which a launch of gemm reads 4,096
// bytes at 40 % of the DRAM's peak.
void MakeProfile(const std::string& path);

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_EXPORT_PROFILE_MAKER_H_
