#include "collector/run/thread_stacks.h"

#include "collector/run/stack_table.h"

namespace utlz {

bool ThreadStacks::Add(const ProcessState& process, const ThreadStackBatch& batch) {
  const int count = batch.time_delta_ns_size();
  if (batch.stack_size() != count) return false;
  uint64_t time_ns = batch.base_ns();
  for (int i = 0; i < count; ++i) {
    time_ns += static_cast<uint64_t>(batch.time_delta_ns(i));
    const uint32_t stack = StackTable::Find(process, batch.stack(i));
    if (count_ >= kMostSamples) ThinOut();
    if (count_ >= kMostSamples || stack == kNoStack || !IsKept(time_ns)) continue;
    const auto known = by_source_.find(process.source);
    if (known != by_source_.end() && !known->second.empty() &&
        time_ns < known->second.back().time_ns) {
      continue;
    }
    if (!memory_->Take(sizeof(Sample))) continue;
    by_source_[process.source].push_back({time_ns, stack});
    ++count_;
  }
  return true;
}

// By the time alone, so that a moment is kept with all of its threads; mixed, so that it does not
// depend on the program's rhythm.
bool ThreadStacks::IsKept(uint64_t time_ns) const {
  return (time_ns * 0x9E3779B97F4A7C15u >> 32) % one_of_ == 0;
}

// Leaves out half of the moments. Times that a process made up may all be kept: then no more come.
void ThreadStacks::ThinOut() {
  if (one_of_ >= kMostSamples) return;
  one_of_ *= 2;
  const size_t before = count_;
  count_ = 0;
  for (auto& [source, samples] : by_source_) {
    std::erase_if(samples, [this](const Sample& sample) { return !IsKept(sample.time_ns); });
    count_ += samples.size();
  }
  memory_->Give((before - count_) * sizeof(Sample));
}

}  // namespace utlz
