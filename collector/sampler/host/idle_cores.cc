#include "collector/sampler/host/idle_cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "collector/sampler/driver/system_files.h"

namespace utlz {
namespace {

// Of "cpu3 user nice system idle iowait …".
constexpr size_t kIdleColumn = 4;
constexpr size_t kWaitColumn = 5;
// The kernel counts in hundredths of a second.
constexpr double kTicksPerSecond = 100;
constexpr uint32_t kCorePpm = 1'000'000;
constexpr double kMostCores = 4000;

bool Allowed(const std::vector<bool>& cpus, size_t cpu) { return cpu < cpus.size() && cpus[cpu]; }

double Ticks(const std::vector<absl::string_view>& words, size_t column) {
  double ticks = 0;
  return column < words.size() && absl::SimpleAtod(words[column], &ticks) ? ticks : 0;
}

double Seconds(uint64_t before_ns, uint64_t now_ns) {
  return static_cast<double>(now_ns - std::min(before_ns, now_ns)) * 1e-9;
}

}  // namespace

std::vector<bool> CpusOfThisProcess() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<bool> cpus;
  // More CPUs than fit say that none is known, and none is idle then.
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  cpus.resize(CPU_SETSIZE);
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) cpus[cpu] = CPU_ISSET(cpu, &set);
  return cpus;
}

double IdleCores::IdleSeconds(const std::vector<bool>& allowed) const {
  double ticks = 0;
  const std::string text = ReadSystemText(root_ + "/proc/stat").value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, "cpu")) break;
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    uint64_t cpu = 0;
    // The first line is the sum of all, and has no number.
    if (line.empty() || line.front() == ' ' || !absl::SimpleAtoi(words.front(), &cpu)) continue;
    if (Allowed(allowed, cpu)) ticks += Ticks(words, kIdleColumn) + Ticks(words, kWaitColumn);
  }
  return ticks / kTicksPerSecond;
}

void IdleCores::Look(uint64_t now_ns, uint64_t own_cpu_ns, const std::vector<bool>& allowed) {
  next_ns_ = now_ns + kPauseNs;
  Reading reading{.time_ns = now_ns, .own_cpu_ns = own_cpu_ns, .idle_seconds = 0,
                  .groups = ReadCgroupCpu(root_)};
  std::vector<bool> cpus = allowed;
  if (reading.groups.cpus.has_value()) {
    for (size_t cpu = 0; cpu < cpus.size(); ++cpu) {
      cpus[cpu] = cpus[cpu] && Allowed(*reading.groups.cpus, cpu);
    }
  }
  reading.idle_seconds = IdleSeconds(cpus);
  uint32_t ppm = 0;
  if (last_.has_value() && now_ns > last_->time_ns) {
    if (reading.groups.throttled > last_->groups.throttled) throttled_ns_ = now_ns;
    const double cores = std::floor(Idle(*last_, reading) / kIdleForEach);
    ppm = static_cast<uint32_t>(std::clamp(cores, 0.0, kMostCores)) * kCorePpm;
  }
  if (throttled_ns_ != 0 && now_ns - throttled_ns_ < kThrottledNs) ppm = 0;
  spare_ppm_ = std::min(ppm, last_ppm_);
  last_ppm_ = ppm;
  last_ = std::move(reading);
}

// Cores that were idle between two readings, or would have been without this process.
double IdleCores::Idle(const Reading& before, const Reading& now) const {
  const double seconds = Seconds(before.time_ns, now.time_ns);
  const double own = Seconds(before.own_cpu_ns, now.own_cpu_ns) / seconds;
  double idle = std::max(0.0, now.idle_seconds - before.idle_seconds) / seconds + own;
  if (now.groups.quotas.size() != before.groups.quotas.size()) return 0;
  for (size_t i = 0; i < now.groups.quotas.size(); ++i) {
    const CpuQuota& quota = now.groups.quotas[i];
    const std::optional<uint64_t>& used_before_ns = before.groups.quotas[i].used_ns;
    // If the used part of a quota is unknown, the job keeps all of it.
    if (!quota.used_ns.has_value() || !used_before_ns.has_value()) return 0;
    const double used = Seconds(*used_before_ns, *quota.used_ns) / seconds;
    idle = std::min(idle, quota.cores - used + own);
  }
  return idle;
}

}  // namespace utlz
