// What launching threads were in, by samples of their stacks in trace windows.
//
// Bounded: of more than kMostSamples, moments are left out evenly, each with the samples of all
// threads. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_THREAD_STACKS_H_
#define UTLZ_COLLECTOR_RUN_THREAD_STACKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "collector/run/memory_budget.h"
#include "collector/run/process_table.h"
#include "proto/profile.pb.h"

namespace utlz {

class ThreadStacks {
 public:
  static constexpr size_t kMostSamples = 1u << 20;

  struct Sample {
    uint64_t time_ns = 0;
    uint32_t stack = 0;  // StackTable's number, never kNoStack
  };

  explicit ThreadStacks(std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>())
      : memory_(std::move(memory)) {}

  // False where the columns do not agree; then nothing was taken. Samples without a stack that is
  // known, and those that are earlier than the process's last, are left out.
  bool Add(const ProcessState& process, const ThreadStackBatch& batch);

  // Calls take(sample) for those of a process in [start_ns, end_ns).
  template <typename Take>
  void ForEachIn(uint32_t source, uint64_t start_ns, uint64_t end_ns, Take take) const {
    const auto found = by_source_.find(source);
    if (found == by_source_.end()) return;
    const std::vector<Sample>& samples = found->second;
    auto sample =
        std::lower_bound(samples.begin(), samples.end(), start_ns,
                         [](const Sample& a, uint64_t time_ns) { return a.time_ns < time_ns; });
    for (; sample != samples.end() && sample->time_ns < end_ns; ++sample) take(*sample);
  }

  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }

 private:
  bool IsKept(uint64_t time_ns) const;
  void ThinOut();

  std::shared_ptr<MemoryBudget> memory_;
  std::map<uint32_t, std::vector<Sample>> by_source_;  // each in order of time
  size_t count_ = 0;
  uint64_t one_of_ = 1;  // so many moments is kept; a power of two
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_THREAD_STACKS_H_
