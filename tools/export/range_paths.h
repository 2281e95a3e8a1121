// Which NVTX ranges were open on a thread at a time, outermost first.
//
// Bounded: ranges beyond kMaxRanges and paths beyond kMaxPaths are left out. Times are of the
// process's CPU clock. Thread safety: none.
#ifndef UTLZ_TOOLS_EXPORT_RANGE_PATHS_H_
#define UTLZ_TOOLS_EXPORT_RANGE_PATHS_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/run/process_table.h"
#include "proto/profile.pb.h"

namespace utlz {

class RangePaths {
 public:
  static constexpr uint32_t kNoPath = 0;
  static constexpr size_t kMaxRanges = 1u << 20;
  static constexpr size_t kMaxPaths = 1u << 16;
  static constexpr size_t kMaxNames = 1u << 16;
  static constexpr int kMaxDepth = 64;

  // False where the columns do not agree; then nothing was taken.
  bool Add(const ProcessState& process, const MarkerBatch& batch);
  // Once, after the last batch and before PathAt.
  void Order();

  bool empty() const { return ranges_ == 0; }
  size_t size() const { return ranges_; }
  uint64_t left_out() const { return left_out_; }

  // kNoPath where no range was open.
  uint32_t PathAt(uint32_t source, uint32_t thread, uint64_t time_ns);
  // Names of the ranges of a path, innermost first.
  std::vector<std::string> NamesOf(uint32_t path) const;

 private:
  static constexpr uint32_t kNoRange = UINT32_MAX;
  static constexpr int kMaxSteps = 256;
  struct Range {
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t name;
    uint32_t outer = kNoRange;  // the innermost other one that was open at its start
  };
  using Thread = std::vector<Range>;  // by start, once ordered

  uint32_t NameOf(std::string name);
  static uint32_t OpenAt(const Thread& thread, uint32_t range, uint64_t time_ns);
  uint32_t PathOf(uint32_t outer, uint32_t name);

  std::map<std::pair<uint32_t, uint32_t>, Thread> threads_;  // by source and thread
  size_t ranges_ = 0;
  uint64_t left_out_ = 0;
  std::unordered_map<std::string, uint32_t> names_;
  std::vector<std::string> name_texts_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> path_ids_;   // (outer path, name)
  std::vector<std::pair<uint32_t, uint32_t>> paths_ = {{0, 0}};  // by path: outer path, name
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_RANGE_PATHS_H_
