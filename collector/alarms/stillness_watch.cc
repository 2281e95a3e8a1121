#include "collector/alarms/stillness_watch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "collector/alarms/subject_name.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

std::optional<double> BusyOf(const Readings& readings, const ProcessReading& process) {
  return process.device < readings.devices.size() ? readings.devices[process.device].busy
                                                  : std::nullopt;
}

uint64_t Since(const ProcessReading& process) {
  return std::max(process.last_work_ns, process.held_since_ns);
}

std::string Seconds(uint64_t from_ns, uint64_t to_ns) {
  return TimeText(static_cast<double>(to_ns - std::min(to_ns, from_ns)));
}

// A process may hold several GPUs, and is one all the same.
void AddOnce(const ProcessReading& process, std::vector<const ProcessReading*>* list) {
  const bool there = std::any_of(list->begin(), list->end(), [&](const ProcessReading* other) {
    return other->source == process.source;
  });
  if (!there) list->push_back(&process);
}

}  // namespace

Conditions StillnessWatch::Look(const Readings& readings) {
  Remember(readings);
  Conditions conditions;
  AddIdle(readings, &conditions);
  AddHang(readings, &conditions);
  return conditions;
}

void StillnessWatch::Remember(const Readings& readings) {
  for (const ProcessReading& process : readings.processes) {
    if (process.last_work_ns == 0) continue;
    Past& past = pasts_[process.source];
    if (past.last_work_ns != 0 && process.last_work_ns > past.last_work_ns) {
      past.longest_pause_ns =
          std::max(past.longest_pause_ns, process.last_work_ns - past.last_work_ns);
    }
    past.last_work_ns = process.last_work_ns;
  }
  std::erase_if(pasts_, [&](const auto& entry) {
    return std::none_of(
        readings.processes.begin(), readings.processes.end(),
        [&](const ProcessReading& process) { return process.source == entry.first; });
  });
}

void StillnessWatch::AddIdle(const Readings& readings, Conditions* conditions) const {
  for (const ProcessReading& process : readings.processes) {
    const std::optional<double> busy = BusyOf(readings, process);
    const uint64_t since_ns = Since(process);
    if (!busy.has_value() || *busy >= kNotBusy || readings.now_ns < since_ns + kIdleNs) continue;
    conditions->push_back({.kind = AlarmKind::kGpuHeldIdle,
                           .since_ns = since_ns,
                           .text = SubjectName(process) +
                                   " holds a GPU and has done nothing on it "
                                   "for " +
                                   Seconds(since_ns, readings.now_ns),
                           .device_uuid = readings.devices[process.device].uuid,
                           .pid = process.pid,
                           .rank = process.rank});
  }
}

void StillnessWatch::AddHang(const Readings& readings, Conditions* conditions) const {
  std::vector<const ProcessReading*> waiting;
  std::vector<const ProcessReading*> missing;
  std::string collective;
  uint64_t since_ns = 0;
  for (const ProcessReading& process : readings.processes) {
    if (process.last_work_ns == 0) continue;
    since_ns = std::max(since_ns, process.last_work_ns);
    if (!process.next_collective.empty() && BusyOf(readings, process) >= kWaitsBusy) {
      AddOnce(process, &waiting);
      collective = process.next_collective;
    } else {
      AddOnce(process, &missing);
    }
  }
  if (waiting.empty() || readings.now_ns < since_ns + PatienceNs()) return;
  std::string text = "no process has done anything for " + Seconds(since_ns, readings.now_ns) +
                     ": " + SubjectNames(waiting) + (waiting.size() == 1 ? " waits" : " wait") +
                     " in what is by the order of the steps before " + collective;
  Condition condition{.kind = AlarmKind::kCollectiveHangs, .since_ns = since_ns};
  if (!missing.empty()) {
    text += ", and " + SubjectNames(missing) + (missing.size() == 1 ? " does" : " do") +
            " not come to it";
    condition.rank = missing.front()->rank;
    condition.pid = missing.front()->pid;
  }
  condition.text = std::move(text);
  condition.collective = std::move(collective);
  conditions->push_back(std::move(condition));
}

uint64_t StillnessWatch::PatienceNs() const {
  uint64_t longest_ns = 0;
  for (const auto& [source, past] : pasts_)
    longest_ns = std::max(longest_ns, past.longest_pause_ns);
  return std::max(kHangNs, kTimesLonger * longest_ns);
}

}  // namespace utlz
