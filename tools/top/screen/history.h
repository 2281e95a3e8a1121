// What snapshots said in the last minutes, for charts: of GPUs, of runs, and of their kernels,
// layers and lines.
// Bounded; what is gone is forgotten. Thread safety: none.
#ifndef UTLZ_TOOLS_TOP_SCREEN_HISTORY_H_
#define UTLZ_TOOLS_TOP_SCREEN_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tools/top/screen/chart.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

enum class GpuValue : uint8_t { kCompute, kDram, kGpuUtil, kSmActive, kPower, kMemory };
inline constexpr size_t kGpuValues = 6;
enum class JobValue : uint8_t { kStepSeconds, kHfu, kMfu };
inline constexpr size_t kJobValues = 3;
enum class WorkValue : uint8_t { kTimeShare, kMeanTime, kRoofShare };
inline constexpr size_t kWorkValues = 3;

// What the work of a run is listed by.
enum class WorkKind : uint8_t { kKernels, kLayers, kLines };
inline constexpr int kWorkKinds = 3;

// A kernel, a layer or a line of a run.
struct WorkId {
  uint32_t collector = 0;
  WorkKind kind = WorkKind::kKernels;
  uint32_t id = 0;

  friend auto operator<=>(const WorkId&, const WorkId&) = default;
};

class History {
 public:
  static constexpr size_t kTicks = 1200;

  void Add(const Snapshot& snapshot);

  // The last `count` values, each the mean of `ticks` ticks; of several GPUs their mean.
  Series OfGpus(const std::vector<unsigned>& indices, GpuValue value, size_t count,
                size_t ticks) const;
  // The process's own step time and HFU; MFU is that of its run.
  Series OfProcess(pid_t pid, JobValue value, size_t count, size_t ticks) const;
  Series OfWork(WorkId work, WorkValue value, size_t count, size_t ticks) const;

 private:
  // By tick, the oldest first; all tracks end with the newest tick.
  template <size_t values>
  struct Track {
    std::vector<Series> ticks = std::vector<Series>(values);
    uint64_t last_tick = 0;
  };
  template <typename Key, size_t values>
  using Tracks = std::map<Key, Track<values>>;

  template <typename Key, size_t values>
  void Append(const Key& key, const std::vector<std::optional<double>>& now,
              Tracks<Key, values>* tracks);
  template <typename Entries>
  void AppendWork(uint32_t collector, WorkKind kind, const Entries& entries);
  template <typename Key, size_t values>
  void Forget(Tracks<Key, values>* tracks) const;

  uint64_t tick_ = 0;
  Tracks<unsigned, kGpuValues> gpus_;
  Tracks<pid_t, kJobValues> processes_;
  Tracks<WorkId, kWorkValues> works_;
};

// The newest `count` of values, each the mean of so many that follow each other.
Series Condensed(const Series& values, size_t count, size_t of);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_HISTORY_H_
