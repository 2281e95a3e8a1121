#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/files/runtime_folder.h"
#include "collector/sampler/channel/sampler_command.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "collector/sampler/sharing/counter_pause.h"
#include "collector/sampler/sharing/counter_subscription.h"
#include "collector/sampler/sharing/sampler_socket.h"
#include "proto/profile.pb.h"
#include "tools/processes/process_names.h"
#include "tools/run/say.h"
#include "tools/utlz/command.h"
#include "tools/utlz/load_summaries.h"

namespace utlz {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
// A sampler looks for pauses twice a second, and ends the window that is under way first.
constexpr uint64_t kPatienceNs = 5 * kSecondNs;

struct PauseOptions {
  std::string duration;
  bool end = false;
};

// "90", "30s", "5m", "2h".
std::optional<uint64_t> DurationNs(std::string text) {
  uint64_t unit_seconds = 1;
  if (!text.empty() && (text.back() == 's' || text.back() == 'm' || text.back() == 'h')) {
    unit_seconds = text.back() == 's' ? 1 : text.back() == 'm' ? 60 : 3600;
    text.pop_back();
  }
  uint64_t count = 0;
  if (!absl::SimpleAtoi(text, &count) || count == 0 ||
      count > kLongestPauseNs / kSecondNs / unit_seconds) {
    return std::nullopt;
  }
  return count * unit_seconds * kSecondNs;
}

std::string ClockTime(uint64_t time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns / kSecondNs);
  std::tm local = {};
  char text[32] = {};
  if (localtime_r(&seconds, &local) != nullptr) std::strftime(text, sizeof(text), "%T", &local);
  return text;
}

std::string Whose(const SamplerPeer& sampler) {
  if (sampler.pid == 0) return absl::StrCat("a sampler of ", UserName(sampler.user));
  return absl::StrCat("sampler process ", sampler.pid, " of ", UserName(sampler.user));
}

std::optional<SamplerPeer> FindSampler(const std::string& uuid) {
  if (auto own = SamplerOf(uuid, geteuid())) return own;
  if (auto of_root = SamplerOf(uuid, 0)) return of_root;
  return SamplerOfAnotherUser(uuid);
}

// Waits until the sampler says that it has given the counters up.
bool HasGivenUp(const std::string& uuid) {
  auto subscription = CounterSubscription::Begin(uuid, SubscriberKind::kAlways);
  if (!subscription.ok()) return false;
  bool given_up = false;
  const uint64_t until_ns = MonotonicNs() + kPatienceNs;
  while (!given_up && MonotonicNs() < until_ns) {
    pollfd entry{(*subscription)->fd(), POLLIN, 0};
    (void)poll(&entry, 1, 100);
    const absl::Status status = (*subscription)->Read([&](uint16_t type, std::string_view payload) {
      SamplerStatus said;
      if (type == FRAME_SAMPLER_STATUS &&
          said.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
        given_up = said.reason().starts_with(kPauseReason);
      }
    });
    if (!status.ok()) return false;
  }
  return given_up;
}

// What became of one GPU; empty where it could not be done, which is said on standard error.
std::string PauseOne(const std::string& folder, const CudaDevice& device,
                     const CounterPause& pause) {
  if (absl::Status status = WritePause(folder, device.uuid, pause); !status.ok()) {
    std::fprintf(stderr, "utlz: %s\n", std::string(status.message()).c_str());
    return {};
  }
  const std::string until = absl::StrCat(" until ", ClockTime(pause.until_ns));
  const std::optional<SamplerPeer> sampler = FindSampler(device.uuid);
  if (!sampler) return absl::StrCat("no utlz has the counters, and none takes them", until);
  if (sampler->user != geteuid() && geteuid() != 0) {
    return absl::StrCat(Whose(*sampler), " has the counters, and heeds ", UserName(sampler->user),
                        " and root alone");
  }
  if (HasGivenUp(device.uuid)) {
    return absl::StrCat(Whose(*sampler), " has given the counters up", until);
  }
  return absl::StrCat(Whose(*sampler), " has the counters, and has not given them up yet");
}

std::string EndOne(const std::string& folder, const CudaDevice& device) {
  const absl::Status status = EndPause(folder, device.uuid);
  if (status.ok()) return "utlz may take the counters again";
  return std::string(status.message());
}

std::string ShowOne(const std::string& folder, const CudaDevice& device) {
  const std::optional<SamplerPeer> sampler = FindSampler(device.uuid);
  const std::string who = sampler ? Whose(*sampler) : "no utlz";
  PauseWatch watch(folder);
  if (const auto& pause = watch.Of(device.uuid, MonotonicNs(), RealtimeNs())) {
    return absl::StrCat("lent until ", ClockTime(pause->until_ns), " (", pause->by, "); ", who,
                        " would have the counters");
  }
  return absl::StrCat(who, " has the counters");
}

int Pause(const PauseOptions& options) {
  std::optional<uint64_t> duration_ns;
  if (!options.duration.empty()) {
    duration_ns = DurationNs(options.duration);
    if (!duration_ns) {
      std::fprintf(stderr,
                   "utlz: a pause is a number of seconds, or as 30s, 5m, 2h; at most 24h\n");
      return kUsageError;
    }
  }
  const absl::StatusOr<CudaDriver> driver = LoadCudaDriver();
  if (!driver.ok()) return Fail(driver.status());
  const absl::StatusOr<std::vector<CudaDevice>> devices = ListCudaDevices(*driver);
  if (!devices.ok()) return Fail(devices.status());
  const absl::StatusOr<std::string> folder = RuntimeFolder();
  if (!folder.ok()) return Fail(folder.status());
  const CounterPause pause{.until_ns = RealtimeNs() + duration_ns.value_or(0),
                           .by = absl::StrCat(UserName(geteuid()), ", process ", getppid())};
  bool done = true;
  for (const CudaDevice& device : *devices) {
    const std::string became = duration_ns   ? PauseOne(*folder, device, pause)
                               : options.end ? EndOne(*folder, device)
                                             : ShowOne(*folder, device);
    done = done && !became.empty();
    if (!became.empty() && !PrintOut(absl::StrCat("GPU ", device.ordinal, ": ", became, "\n"))) {
      return kFailure;
    }
  }
  return done ? kSuccess : kFailure;
}

}  // namespace

void AddPauseCommand(CLI::App* program, Action* action) {
  CLI::App* pause = program->add_subcommand(
      "pause", "Lends the GPUs' counters to other profilers for a time, or says who has them");
  const auto options = std::make_shared<PauseOptions>();
  CLI::Option* duration =
      pause->add_option("duration", options->duration, "How long: 90, 30s, 5m, 2h")
          ->type_name("DURATION");
  pause->add_flag("--end", options->end, "Ends a pause before its time")->excludes(duration);
  pause->callback([action, options] { *action = [options] { return Pause(*options); }; });
}

}  // namespace utlz
