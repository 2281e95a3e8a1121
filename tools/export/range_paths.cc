#include "tools/export/range_paths.h"

#include <algorithm>

namespace utlz {
namespace {

bool Agrees(const MarkerBatch& batch) {
  const int count = batch.start_delta_ns_size();
  const auto fits = [count](int size) { return size == 0 || size == count; };
  return batch.duration_ns_size() == count && batch.name_size() == count &&
         fits(batch.domain_size()) && fits(batch.thread_size());
}

std::string TextOf(const ProcessState& process, uint32_t id) {
  return id < process.strings.size() ? process.strings[id] : std::string();
}

}  // namespace

uint32_t RangePaths::NameOf(std::string name) {
  if (names_.size() >= kMaxNames && !names_.contains(name)) name = "(other ranges)";
  const auto [entry, is_new] =
      names_.try_emplace(std::move(name), static_cast<uint32_t>(name_texts_.size()));
  if (is_new) name_texts_.push_back(entry->first);
  return entry->second;
}

bool RangePaths::Add(const ProcessState& process, const MarkerBatch& batch) {
  if (!Agrees(batch)) return false;
  uint64_t start_ns = batch.base_ns();
  for (int i = 0; i < batch.start_delta_ns_size(); ++i) {
    start_ns += static_cast<uint64_t>(batch.start_delta_ns(i));
    const uint64_t end_ns = start_ns + batch.duration_ns(i);
    if (end_ns <= start_ns) continue;  // a mark, or no time at all
    if (ranges_ >= kMaxRanges) {
      ++left_out_;
      continue;
    }
    std::string name = TextOf(process, batch.name(i));
    if (batch.domain_size() != 0 && batch.domain(i) != 0) {
      name = TextOf(process, batch.domain(i)) + ": " + name;
    }
    const uint32_t thread = batch.thread_size() == 0 ? 0 : batch.thread(i);
    threads_[{process.source, thread}].push_back({start_ns, end_ns, NameOf(std::move(name))});
    ++ranges_;
  }
  return true;
}

// The innermost range that was open, beginning with `range` and going outwards. Ranges that a
// program nests need few steps; hostile ones get no more.
uint32_t RangePaths::OpenAt(const Thread& thread, uint32_t range, uint64_t time_ns) {
  for (int step = 0; step < kMaxSteps && range != kNoRange; ++step) {
    if (thread[range].end_ns > time_ns) return range;
    range = thread[range].outer;
  }
  return kNoRange;
}

void RangePaths::Order() {
  for (auto& [key, thread] : threads_) {
    // Of two that start together the longer one is the outer one.
    std::sort(thread.begin(), thread.end(), [](const Range& a, const Range& b) {
      return std::pair(a.start_ns, b.end_ns) < std::pair(b.start_ns, a.end_ns);
    });
    for (uint32_t i = 1; i < thread.size(); ++i) {
      thread[i].outer = OpenAt(thread, i - 1, thread[i].start_ns);
    }
  }
}

uint32_t RangePaths::PathOf(uint32_t outer, uint32_t name) {
  const auto known = path_ids_.find({outer, name});
  if (known != path_ids_.end()) return known->second;
  if (paths_.size() >= kMaxPaths) return outer;
  const auto id = static_cast<uint32_t>(paths_.size());
  path_ids_.emplace(std::pair(outer, name), id);
  paths_.emplace_back(outer, name);
  return id;
}

uint32_t RangePaths::PathAt(uint32_t source, uint32_t thread, uint64_t time_ns) {
  const auto found = threads_.find({source, thread});
  if (found == threads_.end()) return kNoPath;
  const Thread& ranges = found->second;
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), time_ns,
                       [](uint64_t time, const Range& range) { return time < range.start_ns; });
  if (after == ranges.begin()) return kNoPath;
  uint32_t names[kMaxDepth];
  int depth = 0;
  auto range = static_cast<uint32_t>(after - ranges.begin() - 1);
  for (; (range = OpenAt(ranges, range, time_ns)) != kNoRange && depth < kMaxDepth;
       range = ranges[range].outer) {
    names[depth++] = ranges[range].name;
  }
  uint32_t path = kNoPath;
  while (depth > 0) path = PathOf(path, names[--depth]);
  return path;
}

std::vector<std::string> RangePaths::NamesOf(uint32_t path) const {
  std::vector<std::string> names;
  for (; path != kNoPath; path = paths_[path].first)
    names.push_back(name_texts_[paths_[path].second]);
  return names;
}

}  // namespace utlz
