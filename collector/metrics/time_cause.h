// What a GPU's time went to, as a label says it.
#ifndef UTLZ_COLLECTOR_METRICS_TIME_CAUSE_H_
#define UTLZ_COLLECTOR_METRICS_TIME_CAUSE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace utlz {

// Every moment of a GPU belongs to one of them, from its first activity on.
enum class TimeCause : uint8_t {
  kUseful,           // FLOPs at the peak of the highest clock
  kClock,            // what these needed more at the clock that was seen
  kOtherArithmetic,  // outside tensor cores
  kMemoryBound,      // of kernels, what their FLOPs do not need, by their bound
  kLatencyBound,
  kComputeBound,
  kNeitherBound,
  kUncounted,      // kernels without counters
  kCommunication,  // while no other kernel ran
  kCopies,         // while no kernel ran
  kIdleTurnaround,
  kIdleLaunch,
  kIdleReadback,
  kIdleInput,
  kIdleOther,
  kUntraced,
};
inline constexpr size_t kTimeCauses = 16;

// By cause.
using CauseTimes = std::array<double, kTimeCauses>;

// A stable identifier: "useful", "idle_launch", …
const char* NameOf(TimeCause cause);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_TIME_CAUSE_H_
