// Options that `utlz run` and `utlz attach` share: what is recorded, at what cost, and what the
// user says of the job.
#ifndef UTLZ_TOOLS_RUN_RECORDING_OPTIONS_H_
#define UTLZ_TOOLS_RUN_RECORDING_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "collector/session/session.h"
#include "proto/summary.pb.h"
#include "tools/app_metrics/application_scraper.h"
#include "tools/exporter/exporter.h"

namespace utlz {

// Under a budget: whether kernels are recorded again after the first pause. Automatic: where the
// program does not wait for its launches.
enum class LaterWindowsMode { kAuto, kAlways, kNever };

struct RecordingOptions {
  std::string output;  // empty: a default name in the current folder
  CountersMode counters = CountersMode::kAuto;
  uint32_t overhead_budget_ppm = 10000;  // 0 = unlimited
  std::string cupti_path;                // named by the user; empty: it is searched for
  bool nvtx = false;
  bool stacks = false;       // of launches by Python programs
  bool idle_stacks = false;  // of launching threads, sampled; with `stacks`
  bool new_work = true;      // under a budget, a window soon after it begins
  LaterWindowsMode later_windows = LaterWindowsMode::kAuto;
  bool report = true;
  WorkloadSpec workload_spec;
  AlertLimits alert_limits;
  ExporterOptions metrics;     // where the run's metrics are shown while it goes on, and its alarms
  std::string app_metrics;     // address of the page of a server in the job; empty: none is read
  std::string history_folder;  // where its intervals are kept; empty: nowhere
  uint64_t history_bytes = uint64_t{1} << 30;
  // Prints the report to standard error.
  std::function<void(const Summary& summary)> print_report;
};

// Shows metrics as `options` ask, if they ask for any: `session` hands them to what is returned,
// which must outlive it. Null: nothing was asked for.
absl::StatusOr<std::unique_ptr<Exporter>> StartExporter(
    const RecordingOptions& options, const std::function<void(const std::string& sentence)>& say,
    SessionOptions* session);

// Keeps the run's intervals as `options` ask, if they ask for any: `session` hands its metrics to
// what is returned, which must outlive it, and writes the last interval at its end. After
// StartExporter(), whose part it leaves as it is. Null: nothing was asked for.
class KeptHistory {
 public:
  virtual ~KeptHistory() = default;
};
absl::StatusOr<std::unique_ptr<KeptHistory>> StartHistory(
    const RecordingOptions& options, const std::function<void(const std::string& sentence)>& say,
    SessionOptions* session);

// Reads the page of a server in the job, if `options` name one; as StartExporter() otherwise.
absl::StatusOr<std::unique_ptr<ApplicationScraper>> StartScraper(
    const RecordingOptions& options, const std::function<void(const std::string& sentence)>& say,
    SessionOptions* session);

// A session that records so; `name` is what a default profile's name begins with. The ceilings that
// this machine's GPUs were measured to have come with it.
SessionOptions MakeSessionOptions(const RecordingOptions& options, const std::string& name);

// Starts it. Where a profile without a name of the user's cannot be written in the current folder,
// the error says how to give it one.
absl::StatusOr<std::unique_ptr<Session>> StartSession(const SessionOptions& session);

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_RECORDING_OPTIONS_H_
