#include "collector/history/run_history.h"

#include <limits.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "collector/clocks.h"
#include "collector/metrics/label_text.h"

namespace utlz {
namespace {

constexpr size_t kRunBytes = 16;

}  // namespace

HistoryTime SystemHistoryTime() {
  return {.realtime_ns = ReadClockNs(CLOCK_REALTIME), .monotonic_ns = ReadClockNs(CLOCK_MONOTONIC)};
}

// The time distinguishes runs of one machine while the kernel has no random bytes yet.
std::string NewHistoryRun() {
  std::string run(kRunBytes, '\0');
  if (getrandom(run.data(), run.size(), GRND_NONBLOCK) != static_cast<ssize_t>(run.size())) {
    const uint64_t now_ns = ReadClockNs(CLOCK_REALTIME);
    run.replace(0, sizeof(now_ns), reinterpret_cast<const char*>(&now_ns), sizeof(now_ns));
  }
  return run;
}

HistoryRunName NameRun(const std::vector<std::string>& command, const std::string& profile_path) {
  HistoryRunName name;
  name.run = NewHistoryRun();
  for (const std::string& word : command) {
    if (name.job.size() > kMaxLabelBytes) break;
    name.job += name.job.empty() ? std::string(BaseName(word)) : " " + word;
  }
  name.program = command.empty() ? "" : std::string(BaseName(command[0]));
  name.profile = std::string(BaseName(profile_path));
  char host[HOST_NAME_MAX + 1] = {};
  if (gethostname(host, sizeof(host) - 1) == 0) name.host = host;
  return name;
}

RunHistory::RunHistory(const HistoryRunName& name, Sink sink, HistoryClock clock,
                       uint64_t interval_ns)
    : clock_(std::move(clock)), sink_(std::move(sink)), recorder_(name, clock_(), interval_ns) {}

void RunHistory::Publish(const MetricsSnapshot& snapshot) {
  std::optional<HistoryInterval> interval = recorder_.Add(snapshot, clock_());
  if (interval.has_value()) sink_(*std::move(interval));
}

void RunHistory::End() {
  if (recorder_.HasDevices()) sink_(recorder_.Close(clock_()));
}

}  // namespace utlz
