#include "tools/run/alarm_sentence.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace utlz {

std::string AlarmSentence(const Alarm& alarm) {
  const uint64_t until_ns = alarm.end_ns() != 0 ? alarm.end_ns() : alarm.time_ns();
  const uint64_t seconds = (until_ns - std::min(until_ns, alarm.since_ns())) / 1'000'000'000;
  if (alarm.end_ns() != 0) {
    return absl::StrCat("alarm over after ", seconds, " s: ", alarm.text());
  }
  return absl::StrCat("alarm: ", alarm.text(), ", since ", seconds, " s (", alarm.name(), ")");
}

}  // namespace utlz
