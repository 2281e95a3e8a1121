#include "collector/diagnosis/alerts.h"

#include <optional>
#include <string>
#include <utility>

#include "collector/text/number_text.h"

namespace utlz {
namespace {

struct Crossing {
  double value = 0;
  double limit = 0;
  std::string text;
};

// An alert is raised where its rule returns something. What is not known crosses nothing, nor does
// anything cross a limit that is no number: a profile may hold any.
struct DeviceAlert {
  const char* name;
  std::optional<Crossing> (*look)(const DeviceSummary& device, const AlertLimits& limits);
};

std::optional<Crossing> LowSmActivity(const DeviceSummary& device, const AlertLimits& limits) {
  const bool low = device.has_sm_active_share() && device.gpu_busy_share() >= limits.busy_high() &&
                   device.sm_active_share() < limits.sm_active_low();
  if (!low) return std::nullopt;
  return Crossing{device.sm_active_share(), limits.sm_active_low(),
                  "GPU busy " + PercentText(device.gpu_busy_share()) + ", but SM active " +
                      PercentText(device.sm_active_share()) + " (limit " +
                      PercentText(limits.sm_active_low()) + " from busy " +
                      PercentText(limits.busy_high()) +
                      "): communication, copies or memory hold "
                      "it up"};
}

std::optional<Crossing> LowEfficiency(const DeviceSummary& device, const AlertLimits& limits) {
  const bool low = device.has_efficiency_score() && device.gpu_busy_share() >= limits.busy_some() &&
                   device.efficiency_score() < limits.efficiency_low();
  if (!low) return std::nullopt;
  return Crossing{device.efficiency_score(), limits.efficiency_low(),
                  "efficiency score " + PercentText(device.efficiency_score()) + " of GPU busy " +
                      PercentText(device.gpu_busy_share()) + " (limit " +
                      PercentText(limits.efficiency_low()) + " from busy " +
                      PercentText(limits.busy_some()) + ")"};
}

std::optional<Crossing> LongIdle(const DeviceSummary& device, const AlertLimits& limits) {
  const double seconds = device.longest_idle_ns() * 1e-9;
  const bool idle = device.has_longest_idle_ns() && seconds >= limits.idle_seconds();
  if (!idle) return std::nullopt;
  std::string text = "idle for " + TimeText(device.longest_idle_ns()) + " in a row";
  if (device.has_longest_idle_start_ns()) {
    text += ", from " + TimeText(device.longest_idle_start_ns()) + " of the run on";
  }
  return Crossing{seconds, limits.idle_seconds(),
                  text + " (limit " + TimeText(limits.idle_seconds() * 1e9) + ")"};
}

std::optional<Crossing> FullMemory(const DeviceSummary& device, const AlertLimits& limits) {
  const auto whole = static_cast<double>(device.memory_bytes());
  if (whole <= 0 || !device.has_memory_used_bytes_max()) return std::nullopt;
  const double share = device.memory_used_bytes_max() / whole;
  if (!(share >= limits.memory_full())) return std::nullopt;
  return Crossing{share, limits.memory_full(),
                  "memory filled to " + PercentText(share) + " (limit " +
                      PercentText(limits.memory_full()) + "), " +
                      PrefixedText(whole - device.memory_used_bytes_max(), "B") + " left"};
}

std::optional<Crossing> HighTemperature(const DeviceSummary& device, const AlertLimits& limits) {
  const double celsius = device.temperature_celsius_max();
  const bool hot = device.has_temperature_celsius_max() && celsius >= limits.temperature();
  if (!hot) return std::nullopt;
  return Crossing{celsius, limits.temperature(),
                  "temperature reached " + CountText(celsius) + " °C (limit " +
                      CountText(limits.temperature()) + " °C)"};
}

std::optional<Crossing> LowClock(const DeviceSummary& device, const AlertLimits& limits) {
  if (device.clock_limits().empty() || !device.has_sm_clock_hz() ||
      device.sm_clock_maximum_hz() <= 0) {
    return std::nullopt;
  }
  const double share = device.sm_clock_hz() / device.sm_clock_maximum_hz();
  if (!(share < limits.clock_low())) return std::nullopt;
  std::string text = "clock held to " + PercentText(share) + " of its highest (limit " +
                     PercentText(limits.clock_low()) + ") by";
  for (const std::string& limit : device.clock_limits()) text += " " + limit + ",";
  text.pop_back();
  return Crossing{share, limits.clock_low(), text};
}

constexpr DeviceAlert kDeviceAlerts[] = {
    {"low_sm_activity", LowSmActivity}, {"low_efficiency", LowEfficiency}, {"idle", LongIdle},
    {"memory_full", FullMemory},        {"temperature", HighTemperature},  {"clock_low", LowClock},
};

std::optional<Crossing> GrowingMemory(const MemorySummary& memory, const AlertLimits& limits) {
  const bool grows = memory.leak_suspected() && memory.has_growth_bytes_per_step() &&
                     memory.growth_bytes_per_step() >= limits.memory_growth();
  if (!grows) return std::nullopt;
  return Crossing{memory.growth_bytes_per_step(), limits.memory_growth(),
                  "memory grows by " + PrefixedText(memory.growth_bytes_per_step(), "B") +
                      " a step, and goes on (limit " + PrefixedText(limits.memory_growth(), "B") +
                      " a step)"};
}

void Add(const char* name, const std::string& device_uuid, const Crossing& crossing,
         Summary* summary) {
  AlertSummary* alert = summary->add_alerts();
  alert->set_name(name);
  alert->set_text(crossing.text);
  alert->set_value(crossing.value);
  alert->set_limit(crossing.limit);
  if (!device_uuid.empty()) alert->set_device_uuid(device_uuid);
}

// An alarm counts as a crossed alert, though it has no limit.
void AddAlarm(const AlarmSummary& alarm, Summary* summary) {
  AlertSummary* alert = summary->add_alerts();
  alert->set_name(alarm.name());
  std::string text = alarm.text() + ", from " + TimeText(alarm.start_ns()) + " of the run on";
  if (alarm.has_end_ns()) text += " until " + TimeText(alarm.end_ns());
  alert->set_text(std::move(text));
  if (alarm.has_value()) alert->set_value(alarm.value());
  if (alarm.has_before()) alert->set_limit(alarm.before());
  if (alarm.has_device_uuid()) alert->set_device_uuid(alarm.device_uuid());
}

}  // namespace

AlertLimits DefaultAlertLimits() {
  AlertLimits limits;
  limits.set_busy_high(0.80);
  limits.set_sm_active_low(0.30);
  limits.set_busy_some(0.50);
  limits.set_efficiency_low(0.30);
  limits.set_idle_seconds(60);
  limits.set_memory_full(0.95);
  limits.set_memory_growth(0);
  limits.set_temperature(85);
  limits.set_clock_low(0.75);
  return limits;
}

void RaiseAlerts(const AlertLimits& given, Summary* summary) {
  AlertLimits limits = DefaultAlertLimits();
  limits.MergeFrom(summary->alert_limits());
  limits.MergeFrom(given);
  summary->clear_alerts();
  for (const AlarmSummary& alarm : summary->alarms()) AddAlarm(alarm, summary);
  *summary->mutable_alert_limits() = limits;
  for (const DeviceSummary& device : summary->devices()) {
    for (const DeviceAlert& alert : kDeviceAlerts) {
      const std::optional<Crossing> crossing = alert.look(device, limits);
      if (crossing.has_value()) Add(alert.name, device.uuid(), *crossing, summary);
    }
  }
  const std::optional<Crossing> growth = GrowingMemory(summary->memory(), limits);
  if (growth.has_value()) Add("memory_growth", {}, *growth, summary);
}

}  // namespace utlz
