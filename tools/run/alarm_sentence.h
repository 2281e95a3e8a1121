// What is said of an alarm while its job runs. Pure, thread-safe.
#ifndef UTLZ_TOOLS_RUN_ALARM_SENTENCE_H_
#define UTLZ_TOOLS_RUN_ALARM_SENTENCE_H_

#include <string>

#include "proto/profile.pb.h"

namespace utlz {

// "alarm: HFU fell to 36.0 % from 40.0 %, since 17 s (hfu_fell)", and at its end "alarm over after
// 52 s: HFU fell to 36.0 % from 40.0 %".
std::string AlarmSentence(const Alarm& alarm);

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_ALARM_SENTENCE_H_
