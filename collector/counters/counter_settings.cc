#include "collector/counters/counter_settings.h"

#include <algorithm>

namespace utlz {

void CounterSettings::Add(const CounterSetting& setting) {
  if (setting.end_ns() <= setting.start_ns() || recorded_.size() >= kMost) return;
  recorded_.push_back(
      {.start_ns = setting.start_ns(), .end_ns = setting.end_ns(), .setting = true});
}

void CounterSettings::AddSamples(uint32_t metric_set, uint64_t start_ns, uint64_t end_ns) {
  if (!set_stretches_.empty() && set_stretches_.back().metric_set == metric_set) {
    set_stretches_.back().end_ns = std::max(set_stretches_.back().end_ns, end_ns);
  } else if (set_stretches_.size() < kMost) {
    set_stretches_.push_back({.metric_set = metric_set, .start_ns = start_ns, .end_ns = end_ns});
  }
}

// Counters are set right after a window or right before one. If two windows lie far apart, both of
// these stretches count.
void CounterSettings::AddInferred(std::vector<Stretch>* stretches) const {
  const auto add = [stretches](uint64_t start_ns, uint64_t end_ns) {
    if (end_ns > start_ns) {
      stretches->push_back({.start_ns = start_ns, .end_ns = end_ns, .setting = true});
    }
  };
  for (size_t i = 0; i < set_stretches_.size(); ++i) {
    const uint64_t to_ns = set_stretches_[i].start_ns;
    const uint64_t from_ns = i == 0 ? 0 : set_stretches_[i - 1].end_ns;
    if (to_ns <= from_ns || to_ns - from_ns <= 2 * kLongestNs) {
      add(from_ns, to_ns);
    } else {
      if (i > 0) add(from_ns, from_ns + kLongestNs);
      add(to_ns - kLongestNs, to_ns);
    }
  }
}

std::vector<CounterSettings::Stretch> CounterSettings::Stretches() const {
  std::vector<Stretch> stretches = recorded_;
  if (recorded_.empty()) AddInferred(&stretches);
  for (const SetStretch& set_stretch : set_stretches_) {
    if (set_stretch.metric_set == set_stretches_.front().metric_set) continue;
    stretches.push_back(
        {.start_ns = set_stretch.start_ns,
         .end_ns = std::min(set_stretch.end_ns, UINT64_MAX - kLongestNs) + kLongestNs,
         .setting = false});
  }
  return stretches;
}

}  // namespace utlz
