#include "collector/alarms/alarm_watch.h"

#include <algorithm>
#include <string>

namespace utlz {
namespace {

Alarm AlarmOf(const Condition& condition, uint32_t number, uint64_t now_ns) {
  Alarm alarm;
  alarm.set_number(number);
  alarm.set_name(NameOf(condition.kind));
  alarm.set_time_ns(now_ns);
  alarm.set_since_ns(condition.since_ns);
  alarm.set_text(condition.text);
  alarm.set_device_uuid(condition.device_uuid);
  alarm.set_pid(condition.pid);
  if (condition.rank.has_value()) alarm.set_rank(*condition.rank);
  if (condition.value.has_value()) alarm.set_value(*condition.value);
  if (condition.before.has_value()) alarm.set_before(*condition.before);
  alarm.set_collective(condition.collective);
  return alarm;
}

void AddLabel(const char* name, const std::string& value, Labels* labels) {
  if (!value.empty()) labels->emplace_back(name, value);
}

}  // namespace

std::vector<Alarm> AlarmWatch::Look(const Readings& readings) {
  Conditions now = job_.Look(readings);
  for (const Conditions& more :
       {ranks_.Look(readings), stillness_.Look(readings), queue_.Look(readings)}) {
    now.insert(now.end(), more.begin(), more.end());
  }
  std::vector<Alarm> news;
  std::erase_if(raised_, [&](Raised& raised) {
    const bool goes_on = std::any_of(now.begin(), now.end(), [&](const Condition& condition) {
      return condition.SameAs(raised.first);
    });
    if (goes_on) return false;
    raised.second.set_end_ns(readings.now_ns);
    news.push_back(raised.second);
    return true;
  });
  for (const Condition& condition : now) Raise(condition, readings.now_ns, &news);
  return news;
}

void AlarmWatch::Raise(const Condition& condition, uint64_t now_ns, std::vector<Alarm>* news) {
  const bool is_raised = std::any_of(raised_.begin(), raised_.end(), [&](const Raised& raised) {
    return raised.first.SameAs(condition);
  });
  if (is_raised || raised_.size() >= kMostRaised) return;
  ++counts_[static_cast<size_t>(condition.kind)];
  if (reported_ >= kMostReported) return;
  raised_.emplace_back(condition, AlarmOf(condition, ++reported_, now_ns));
  news->push_back(raised_.back().second);
}

void AlarmWatch::AddTo(const Labels& host, MetricsSnapshot* snapshot) const {
  for (const auto& [condition, alarm] : raised_) {
    Labels labels = host;
    AddLabel("alarm", alarm.name(), &labels);
    AddLabel("UUID", alarm.device_uuid(), &labels);
    if (alarm.pid() != 0) AddLabel("pid", std::to_string(alarm.pid()), &labels);
    if (alarm.has_rank()) AddLabel("rank", std::to_string(alarm.rank()), &labels);
    snapshot->Add(Metric::kAlarm, std::move(labels), 1);
  }
  for (size_t i = 0; i < kAlarmKinds; ++i) {
    Labels labels = host;
    AddLabel("alarm", NameOf(static_cast<AlarmKind>(i)), &labels);
    snapshot->Add(Metric::kAlarms, std::move(labels), static_cast<double>(counts_[i]));
  }
}

}  // namespace utlz
