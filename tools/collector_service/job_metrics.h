// Joins the metrics of all jobs of a service in one snapshot; a label names each sample's job.
//
// A job's counts stay for kLasting after its end, so that a scraper sees the last ones.
// Thread safety: Publish() from any thread, the rest from one.
#ifndef UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_METRICS_H_
#define UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_METRICS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "collector/metrics/metrics_snapshot.h"

namespace utlz {

class JobMetrics {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::minutes kLasting{5};
  static constexpr size_t kMostEnded = 256;  // the oldest go first

  // Begins a job and returns the number to give to Publish(). A job whose name is taken gets a
  // suffix.
  uint64_t Begin(const std::string& name);
  void Publish(uint64_t job, MetricsSnapshot snapshot);
  void End(uint64_t job, Clock::time_point now);

  // Nothing where nothing has changed since the last call.
  std::optional<MetricsSnapshot> Merged(Clock::time_point now);

 private:
  struct Job {
    std::string name;
    MetricsSnapshot snapshot;
    std::optional<Clock::time_point> ended;
  };

  void Forget(Clock::time_point now);
  bool HasName(const std::string& name) const;

  std::mutex mutex_;
  std::map<uint64_t, Job> jobs_;  // guarded by mutex_, as is all below
  uint64_t next_ = 0;
  bool changed_ = false;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_METRICS_H_
