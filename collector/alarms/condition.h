// Something that is so now and calls for an alarm. Two are the same where kind and subject are.
#ifndef UTLZ_COLLECTOR_ALARMS_CONDITION_H_
#define UTLZ_COLLECTOR_ALARMS_CONDITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace utlz {

enum class AlarmKind : uint8_t {
  kHfuFell,
  kStepsSlower,
  kRankLags,
  kGpuHeldIdle,
  kCollectiveHangs,
  kQueueGrows,
};
inline constexpr size_t kAlarmKinds = 6;

// A stable identifier: "hfu_fell", …
const char* NameOf(AlarmKind kind);

struct Condition {
  AlarmKind kind = AlarmKind::kHfuFell;
  uint64_t since_ns = 0;
  std::string text = {};         // one sentence without its full stop
  std::string device_uuid = {};  // of one GPU; else of the job
  uint64_t pid = 0;              // of one process
  std::optional<uint32_t> rank = std::nullopt;
  std::optional<double> value = std::nullopt;
  std::optional<double> before = std::nullopt;
  std::string collective = {};

  bool SameAs(const Condition& other) const {
    return kind == other.kind && device_uuid == other.device_uuid && pid == other.pid;
  }
};

using Conditions = std::vector<Condition>;

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ALARMS_CONDITION_H_
