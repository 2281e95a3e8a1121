// Threads of a warp, on every GPU of NVIDIA's so far.
#ifndef UTLZ_COLLECTOR_WARP_THREADS_H_
#define UTLZ_COLLECTOR_WARP_THREADS_H_

namespace utlz {

inline constexpr double kWarpThreads = 32;

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_WARP_THREADS_H_
