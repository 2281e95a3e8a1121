// Joins launches to the calls that launched them, by correlation, and finds for each call which
// NVTX ranges were open.
//
// Records come in no order across a process's buffers: calls wait for launches and launches for
// calls, each up to a bound; what has to go is taken to be in no range. Thread safety: none.
#ifndef UTLZ_TOOLS_EXPORT_CALL_JOIN_H_
#define UTLZ_TOOLS_EXPORT_CALL_JOIN_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proto/profile.pb.h"
#include "tools/export/range_paths.h"
#include "tools/export/work_sites.h"

namespace utlz {

struct JoinedLaunch {
  uint32_t correlation = 0;  // 0: calls were not recorded
  WorkSite site;             // its path is found here
  uint32_t called_from = 0;  // stack of the launch itself, also where the site has a node's
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

class CallJoin {
 public:
  static constexpr size_t kMaxCalls = 1u << 19;
  static constexpr size_t kMaxWaiting = 1u << 19;

  using Take = std::function<void(const JoinedLaunch&)>;

  // `paths` outlives it. `take` gets every launch once.
  CallJoin(RangePaths* paths, Take take) : paths_(paths), take_(std::move(take)) {}

  // False where the columns do not agree; then nothing was taken.
  bool AddCalls(uint32_t source, const LaunchCallBatch& batch);
  void AddLaunch(JoinedLaunch launch);
  // No call comes any more.
  void Finish();

 private:
  void DropFirst();

  RangePaths* paths_;
  Take take_;
  std::unordered_map<uint64_t, uint32_t> path_by_call_;  // by source and correlation
  std::deque<uint64_t> call_order_;
  std::unordered_map<uint64_t, std::vector<JoinedLaunch>> waiting_;
  std::deque<uint64_t> waiting_order_;  // keys; of some the launches have gone
  size_t held_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_CALL_JOIN_H_
