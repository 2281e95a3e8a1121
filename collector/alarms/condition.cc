#include "collector/alarms/condition.h"

#include <array>

namespace utlz {

const char* NameOf(AlarmKind kind) {
  constexpr std::array<const char*, kAlarmKinds> kNames = {
      "hfu_fell", "steps_slower", "rank_lags", "gpu_held_idle", "collective_hangs", "queue_grows"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace utlz
