#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include "collector/sampler/driver/clocks.h"
#include "collector/sampler/driver/nvml_table.h"
#include "tools/top/snapshot_json.h"
#include "tools/top/snapshot_reader.h"
#include "tools/top/snapshot_text.h"
#include "tools/utlz/command.h"
#include "tools/utlz/profile_sides.h"

namespace utlz {
namespace {

constexpr double kNsPerSecond = 1e9;
// GPM's values are over the time since the reading before, so one reading comes ahead of all ticks.
constexpr double kFirstWaitSeconds = 0.25;

struct TopOptions {
  bool once = false;
  bool json = false;
  bool plain = false;
  double interval_seconds = 1;
  uint64_t count = 0;  // 0: until a signal ends the program
};

// To a moment, not for a time, so that ticks do not drift. Returns at once where it has passed.
void SleepUntil(uint64_t monotonic_ns) {
  const timespec moment = {.tv_sec = static_cast<time_t>(monotonic_ns / 1'000'000'000),
                           .tv_nsec = static_cast<long>(monotonic_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr) != 0) {
  }
}

std::string Render(const TopOptions& options, const top::Snapshot& snapshot) {
  if (options.json) return top::SnapshotJson(snapshot);
  return options.once ? top::SnapshotPage(snapshot) : top::SnapshotLines(snapshot);
}

int ShowTicks(const TopOptions& options, top::SnapshotReader* reader) {
  const uint64_t ticks = options.once ? 1 : options.count;
  const auto interval_ns = static_cast<uint64_t>(options.interval_seconds * kNsPerSecond);
  uint64_t next_ns = MonotonicNs() + static_cast<uint64_t>(kFirstWaitSeconds * kNsPerSecond);
  for (uint64_t tick = 0; ticks == 0 || tick < ticks; ++tick) {
    SleepUntil(next_ns);
    next_ns += interval_ns;
    if (!PrintOut(Render(options, reader->Read(RealtimeNs())))) return kFailure;
  }
  return kSuccess;
}

int Top(const TopOptions& options) {
  const auto nvml = LoadNvml();
  if (!nvml.ok()) {
    std::fprintf(stderr, "utlz: %s\n", std::string(nvml.status().message()).c_str());
    return kFailure;
  }
  top::SnapshotReader reader(*nvml);
  if (reader.Read(RealtimeNs()).gpus.empty()) {
    std::fprintf(stderr, "utlz: NVML lists no GPU\n");
    return kFailure;
  }
  return ShowTicks(options, &reader);
}

}  // namespace

void AddTopCommand(CLI::App* program, Action* action) {
  CLI::App* top = program->add_subcommand(
      "top", "What every GPU does now: a line a GPU and second, from NVML, without an agent");
  const auto options = std::make_shared<TopOptions>();
  top->add_flag("--once", options->once, "One tick, with the processes of each GPU");
  CLI::Option* json = top->add_flag("--json", options->json, "One JSON object a tick, on a line");
  top->add_flag("--plain", options->plain, "Lines of text, which is the default")->excludes(json);
  top->add_option("--interval", options->interval_seconds, "Seconds between ticks; default 1")
      ->check(CLI::Range(0.1, 3600.0));
  top->add_option("--count", options->count, "End after this many ticks; default: at Ctrl-C")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  top->callback([action, options] { *action = [options] { return Top(*options); }; });
}

}  // namespace utlz
