#include "tools/top/screen/history.h"

#include <algorithm>

namespace utlz::top {
namespace {

using Values = std::vector<std::optional<double>>;

template <typename Message>
std::optional<double> Field(bool has, double (Message::*get)() const, const Message& message) {
  return has ? std::make_optional((message.*get)()) : std::nullopt;
}

std::optional<double> MemoryPercent(const GpuSnapshot& gpu) {
  if (!gpu.memory_used_bytes || gpu.memory_total_bytes.value_or(0) == 0) return std::nullopt;
  return 100.0 * static_cast<double>(*gpu.memory_used_bytes) /
         static_cast<double>(*gpu.memory_total_bytes);
}

Series MeanOf(const std::vector<Series>& all, size_t count) {
  Series mean(count);
  for (size_t i = 0; i < count; ++i) {
    double sum = 0;
    int known = 0;
    for (const Series& series : all) {
      if (!series[i]) continue;
      sum += *series[i];
      ++known;
    }
    if (known > 0) mean[i] = sum / known;
  }
  return mean;
}

}  // namespace

Series Condensed(const Series& values, size_t count, size_t of) {
  Series condensed(count);
  for (size_t back = 0; back < count; ++back) {
    double sum = 0;
    size_t known = 0;
    for (size_t i = back * of; i < (back + 1) * of && i < values.size(); ++i) {
      const auto& value = values[values.size() - 1 - i];
      if (!value) continue;
      sum += *value;
      ++known;
    }
    if (known > 0) condensed[count - 1 - back] = sum / static_cast<double>(known);
  }
  return condensed;
}

template <typename Key, size_t values>
void History::Append(const Key& key, const Values& now, Tracks<Key, values>* tracks) {
  Track<values>& track = (*tracks)[key];
  // One that was away leaves a gap.
  const uint64_t missed =
      track.last_tick == 0 ? 0 : std::min<uint64_t>(tick_ - track.last_tick - 1, kTicks);
  track.last_tick = tick_;
  for (size_t i = 0; i < values; ++i) {
    Series& series = track.ticks[i];
    series.insert(series.end(), missed, std::nullopt);
    series.push_back(now[i]);
    // Not at every tick, since what follows has to move.
    if (series.size() > 2 * kTicks) {
      series.erase(series.begin(), series.end() - static_cast<ptrdiff_t>(kTicks));
    }
  }
}

template <typename Key, size_t values>
void History::Forget(Tracks<Key, values>* tracks) const {
  std::erase_if(*tracks,
                [this](const auto& entry) { return entry.second.last_tick + kTicks < tick_; });
}

template <typename Entries>
void History::AppendWork(uint32_t collector, WorkKind kind, const Entries& entries) {
  using Entry = typename Entries::value_type;
  for (const Entry& entry : entries) {
    Append(WorkId{collector, kind, entry.id()},
           {Field(entry.has_time_share(), &Entry::time_share, entry),
            Field(entry.has_mean_time_ns(), &Entry::mean_time_ns, entry),
            Field(entry.has_roof_share(), &Entry::roof_share, entry)},
           &works_);
  }
}

void History::Add(const Snapshot& snapshot) {
  ++tick_;
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    Append(gpu.index,
           {gpu.compute_percent, gpu.dram_active_percent, gpu.gpu_util_percent,
            gpu.sm_active_percent, gpu.power_watts, MemoryPercent(gpu)},
           &gpus_);
  }
  for (const LiveSnapshot& run : snapshot.runs) {
    const auto mfu = Field(run.has_mfu(), &LiveSnapshot::mfu, run);
    for (const LiveProcess& process : run.processes()) {
      if (!process.live()) continue;
      Append(static_cast<pid_t>(process.pid()),
             {Field(process.has_step_seconds(), &LiveProcess::step_seconds, process),
              Field(process.has_hfu(), &LiveProcess::hfu, process), mfu},
             &processes_);
    }
    AppendWork(run.collector_pid(), WorkKind::kKernels, run.kernels());
    AppendWork(run.collector_pid(), WorkKind::kLayers, run.layers());
    AppendWork(run.collector_pid(), WorkKind::kLines, run.lines());
  }
  Forget(&gpus_);
  Forget(&processes_);
  Forget(&works_);
}

Series History::OfGpus(const std::vector<unsigned>& indices, GpuValue value, size_t count,
                       size_t ticks) const {
  std::vector<Series> all;
  for (const unsigned index : indices) {
    const auto track = gpus_.find(index);
    if (track == gpus_.end()) continue;
    all.push_back(Condensed(track->second.ticks[static_cast<size_t>(value)], count, ticks));
  }
  return MeanOf(all, count);
}

Series History::OfProcess(pid_t pid, JobValue value, size_t count, size_t ticks) const {
  const auto track = processes_.find(pid);
  return track == processes_.end()
             ? Series(count)
             : Condensed(track->second.ticks[static_cast<size_t>(value)], count, ticks);
}

Series History::OfWork(WorkId work, WorkValue value, size_t count, size_t ticks) const {
  const auto track = works_.find(work);
  return track == works_.end()
             ? Series(count)
             : Condensed(track->second.ticks[static_cast<size_t>(value)], count, ticks);
}

}  // namespace utlz::top
