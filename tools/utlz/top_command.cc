#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "collector/clocks.h"
#include "collector/sampler/driver/nvml_table.h"
#include "tools/calibrate/ceilings_store.h"
#include "tools/run/say.h"
#include "tools/top/live_readers.h"
#include "tools/top/profile_replay.h"
#include "tools/top/screen/screen.h"
#include "tools/top/screen/terminal.h"
#include "tools/top/snapshot_json.h"
#include "tools/top/snapshot_reader.h"
#include "tools/top/snapshot_text.h"
#include "tools/utlz/command.h"
#include "tools/utlz/load_summaries.h"
#include "tools/utlz/terminal.h"

namespace utlz {
namespace {

constexpr double kNsPerSecond = 1e9;
// GPM's values are over the time since the reading before, so one reading comes ahead of all ticks.
constexpr double kFirstWaitSeconds = 0.25;

// For which a few ticks wait, so that they miss no run.
constexpr double kMostWaitForRunsSeconds = 3;
constexpr uint64_t kLookIntervalNs = 20'000'000;

struct TopOptions {
  bool once = false;
  bool json = false;
  bool plain = false;
  bool ascii = false;
  bool counters = true;
  std::string replay;
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

void AwaitRuns(top::LiveReaders* live) {
  const uint64_t end_ns =
      MonotonicNs() + static_cast<uint64_t>(kMostWaitForRunsSeconds * kNsPerSecond);
  while (!live->Silent().empty() && MonotonicNs() < end_ns) {
    SleepUntil(MonotonicNs() + kLookIntervalNs);
    live->Read(MonotonicNs());
  }
  for (const pid_t collector : live->Silent()) {
    std::fprintf(stderr,
                 "utlz: process %d, which records a run, did not answer within %g s: the first "
                 "tick lacks that run\n",
                 static_cast<int>(collector), kMostWaitForRunsSeconds);
  }
}

std::string Render(const TopOptions& options, const top::Snapshot& snapshot) {
  if (options.json) return top::SnapshotJson(snapshot);
  return options.once ? top::SnapshotPage(snapshot) : top::SnapshotLines(snapshot);
}

using TakeSnapshot = std::function<top::Snapshot()>;

int ShowTicks(const TopOptions& options, const TakeSnapshot& take) {
  const uint64_t ticks = options.once ? 1 : options.count;
  const auto interval_ns = static_cast<uint64_t>(options.interval_seconds * kNsPerSecond);
  uint64_t next_ns = MonotonicNs() + static_cast<uint64_t>(kFirstWaitSeconds * kNsPerSecond);
  for (uint64_t tick = 0; ticks == 0 || tick < ticks; ++tick) {
    SleepUntil(next_ns);
    next_ns += interval_ns;
    if (!PrintOut(Render(options, take()))) return kFailure;
  }
  return kSuccess;
}

// Where a terminal can be used; else lines do. Nothing: it was not asked for, or cannot be.
std::unique_ptr<top::Terminal> OpenTerminal(const TopOptions& options) {
  if (options.once || options.json || options.plain || isatty(STDOUT_FILENO) == 0) return nullptr;
  auto terminal =
      top::Terminal::Open({.ascii = options.ascii, .no_color = !UseColor(STDOUT_FILENO)});
  if (terminal.ok()) return *std::move(terminal);
  std::fprintf(stderr, "utlz: lines instead of a screen: %s\n",
               std::string(terminal.status().message()).c_str());
  return nullptr;
}

int Show(const TopOptions& options, const TakeSnapshot& take) {
  const std::unique_ptr<top::Terminal> terminal = OpenTerminal(options);
  if (terminal == nullptr) return ShowTicks(options, take);
  SleepUntil(MonotonicNs() + static_cast<uint64_t>(kFirstWaitSeconds * kNsPerSecond));
  const absl::Status status = top::RunScreen(
      {.interval_seconds = options.interval_seconds, .ticks = options.count}, take, terminal.get());
  return status.ok() ? kSuccess : kFailure;
}

int Replay(const TopOptions& options) {
  absl::StatusOr<top::ProfileReplay> replay = top::ProfileReplay::Open(options.replay);
  if (!replay.ok()) {
    return Fail(replay.status(), kFailure);
  }
  const uint64_t begun_ns = MonotonicNs();
  return Show(options, [&] { return replay->Read(MonotonicNs() - begun_ns); });
}

int Top(const TopOptions& options) {
  if (!options.replay.empty()) return Replay(options);
  const auto nvml = LoadNvml();
  if (!nvml.ok()) {
    return Fail(nvml.status(), kFailure);
  }
  top::LiveReaders live(top::LiveFolders());
  top::SnapshotReader reader(*nvml, LoadCeilings(CeilingsFolder()), &live);
  if (reader.Read(RealtimeNs()).gpus.empty()) {
    std::fprintf(stderr, "utlz: NVML lists no GPU\n");
    return kFailure;
  }
  if (options.counters && !options.once) reader.SampleWhereNoGpm();
  if (options.once || options.count > 0) AwaitRuns(&live);
  return Show(options, [&reader] { return reader.Read(RealtimeNs()); });
}

}  // namespace

void AddTopCommand(CLI::App* program, Action* action) {
  CLI::App* top = program->add_subcommand(
      "top",
      "What every GPU does now, and the runs that collectors record: in full screen, as lines, "
      "or as JSON");
  const auto options = std::make_shared<TopOptions>();
  top->add_flag("--once", options->once, "One tick, with the processes of each GPU");
  CLI::Option* json = top->add_flag("--json", options->json, "One JSON object a tick, on a line");
  top->add_flag("--plain", options->plain, "Lines of text, as where output is no terminal")
      ->excludes(json);
  top->add_flag("--ascii", options->ascii, "ASCII alone on the screen");
  top->add_flag("!--no-counters", options->counters,
                "Take no samples of the counters where a GPU has no GPM");
  top->add_option("--replay", options->replay,
                  "Shows a profile as if it were recorded now, instead of this machine")
      ->type_name("FILE");
  top->add_option("--interval", options->interval_seconds, "Seconds between ticks; default 1")
      ->check(CLI::Range(0.1, 3600.0));
  top->add_option("--count", options->count, "End after this many ticks; default: at Ctrl-C")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  top->callback([action, options] { *action = [options] { return Top(*options); }; });
}

}  // namespace utlz
