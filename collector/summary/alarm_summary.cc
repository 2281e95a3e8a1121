#include "collector/summary/alarm_summary.h"

namespace utlz {

void SummarizeAlarms(const RunState& state, Summary* summary) {
  const uint64_t origin_ns = state.run_start.has_value() ? state.run_start->time_ns() : 0;
  const auto since_start = [origin_ns](uint64_t time_ns) {
    return static_cast<double>(time_ns) - static_cast<double>(origin_ns);
  };
  for (const auto& [number, alarm] : state.alarms.alarms()) {
    AlarmSummary* one = summary->add_alarms();
    one->set_name(alarm.name());
    one->set_text(alarm.text());
    one->set_start_ns(since_start(alarm.since_ns()));
    one->set_raised_ns(since_start(alarm.time_ns()));
    if (alarm.end_ns() != 0) one->set_end_ns(since_start(alarm.end_ns()));
    if (!alarm.device_uuid().empty()) one->set_device_uuid(alarm.device_uuid());
    if (alarm.pid() != 0) one->set_pid(alarm.pid());
    if (alarm.has_rank()) one->set_rank(alarm.rank());
    if (alarm.has_value()) one->set_value(alarm.value());
    if (alarm.has_before()) one->set_before(alarm.before());
    if (!alarm.collective().empty()) one->set_collective(alarm.collective());
  }
}

}  // namespace utlz
