// What alarms say of days that are made of the noise of recorded runs.
//
//   alarm_noise HOURS FALL PROFILE…
//
// For each profile: alarms in HOURS hours in which nothing happens, and seconds until a FALL of HFU
// (0.1 is a tenth) raises one, the slowest of 200. The clock is injected: a day takes a moment.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/alarms/simulated_days.h"

int main(int count, char** words) {
  if (count < 4) {
    std::fprintf(stderr, "usage: alarm_noise HOURS FALL PROFILE...\n");
    return 2;
  }
  constexpr int kFalls = 200;
  const double hours = std::atof(words[1]);
  const double fall = std::atof(words[2]);
  int false_alarms = 0;
  for (int i = 3; i < count; ++i) {
    const auto pace = utlz::PaceOf(words[i]);
    if (!pace.ok()) {
      std::fprintf(stderr, "%s\n", std::string(pace.status().message()).c_str());
      return 1;
    }
    constexpr size_t kFewestSeconds = 5;
    if (pace->all.size() < kFewestSeconds) {
      std::printf("%s: too short to have a noise\n", words[i]);
      continue;
    }
    std::printf(
        "%s: %zu seconds of work, the pace scatters by %.2f %% in 5 s; a snapshot takes %.2f ms, "
        "a renewal %.0f ms\n",
        words[i], pace->all.size(), 100 * utlz::BlockScatter(*pace, 1), pace->snapshot_cpu_ms,
        pace->renewal_cpu_ms);
    std::printf("  alarms in %.0f hours:", hours);
    const auto raised = utlz::AlarmsInHours(*pace, hours, 1);
    for (const auto& [name, times] : raised) {
      std::printf(" %s %d", name.c_str(), times);
      false_alarms += times;
    }
    std::printf("%s\n", raised.empty() ? " none" : "");
    int seen = 0;
    double slowest = 0;
    for (int seed = 0; seed < kFalls; ++seed) {
      const auto seconds = utlz::SecondsToAlarm(*pace, fall, static_cast<uint64_t>(seed));
      if (!seconds.has_value()) continue;
      ++seen;
      slowest = std::max(slowest, *seconds);
    }
    std::printf("  a fall by %.1f %% was seen %d of %d times, after %.1f s at most\n", 100 * fall,
                seen, kFalls, slowest);
  }
  return false_alarms == 0 ? 0 : 1;
}
