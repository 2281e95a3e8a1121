#include "tools/collector_service/job_metrics.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr char kLabel[] = "utlz_job";

// The same for the same labels alone.
std::string TextOf(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += name;
    text.append(1, '\0').append(value).append(1, '\0');
  }
  return text;
}

// A page must not have a series twice, as of a process that was met anew: counts are added up, and
// of what is true of a moment the last one counts.
void AddSamples(Metric metric, const std::string& job, const MetricsSnapshot& from,
                MetricsSnapshot* to) {
  const bool counts = DescriptionOf(metric).type == MetricType::kCounter;
  std::map<std::string, MetricSample> samples;
  for (const MetricSample& sample : from.Of(metric)) {
    const auto [entry, is_new] = samples.emplace(TextOf(sample.labels), sample);
    MetricSample& kept = entry->second;
    if (!is_new) kept.value = counts ? kept.value + sample.value : sample.value;
  }
  for (auto& [text, sample] : samples) {
    sample.labels.emplace_back(kLabel, job);
    to->Add(metric, std::move(sample.labels), sample.value);
  }
}

}  // namespace

uint64_t JobMetrics::Begin(const std::string& name) {
  const std::lock_guard lock(mutex_);
  // One that has ended gives its name to its successor.
  std::erase_if(jobs_, [&](const auto& entry) {
    return entry.second.ended.has_value() && entry.second.name == name;
  });
  std::string unique = name;
  for (int i = 2; HasName(unique); ++i) unique = absl::StrCat(name, "-", i);
  jobs_[++next_].name = std::move(unique);
  return next_;
}

bool JobMetrics::HasName(const std::string& name) const {
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [&](const auto& entry) { return entry.second.name == name; });
}

void JobMetrics::Publish(uint64_t job, MetricsSnapshot snapshot) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  found->second.snapshot = std::move(snapshot);
  changed_ = true;
}

void JobMetrics::End(uint64_t job, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  found->second.snapshot.RemoveGauges();
  found->second.ended = now;
  changed_ = true;
}

void JobMetrics::Forget(Clock::time_point now) {
  size_t ended = 0;
  for (auto entry = jobs_.rbegin(); entry != jobs_.rend(); ++entry) {
    std::optional<Clock::time_point>& end = entry->second.ended;
    if (end.has_value() && ++ended > kMostEnded) end = now - kLasting;
  }
  const auto forgotten = std::erase_if(jobs_, [now](const auto& entry) {
    return entry.second.ended.has_value() && now >= *entry.second.ended + kLasting;
  });
  changed_ = changed_ || forgotten > 0;
}

std::optional<MetricsSnapshot> JobMetrics::Merged(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Forget(now);
  if (!std::exchange(changed_, false)) return std::nullopt;
  MetricsSnapshot merged;
  for (const auto& [number, job] : jobs_) {
    for (size_t i = 0; i < kMetrics; ++i) {
      AddSamples(static_cast<Metric>(i), job.name, job.snapshot, &merged);
    }
  }
  return merged;
}

}  // namespace utlz
