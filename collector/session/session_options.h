// What a run is recorded with.
#ifndef UTLZ_COLLECTOR_SESSION_SESSION_OPTIONS_H_
#define UTLZ_COLLECTOR_SESSION_SESSION_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/metrics_snapshot.h"
#include "collector/metrics/places.h"
#include "collector/profile/profile_writer.h"
#include "proto/profile.pb.h"
#include "proto/ring_abi.h"
#include "proto/run_token.h"

namespace utlz {

enum class CountersMode { kAuto, kSample, kRange, kNone };

struct SessionOptions {
  std::string profile_path;
  ProfileFile profile_file;
  // Where agents connect, in a directory that is ours alone; at most 107 bytes. Empty: only agents
  // that AddAgent() brings are taken in.
  std::string socket_path;
  // What those that connect must know; none is asked of them without.
  std::optional<RunToken> token;
  std::vector<std::string> command;  // for the report
  CountersMode counters = CountersMode::kAuto;
  uint32_t overhead_budget_ppm = 10000;  // 0 = unlimited
  uint32_t trace_flags = kTraceKernels | kTraceCopies;
  uint64_t delay_ms = 0;                // agents stay inactive until then
  std::optional<uint64_t> duration_ms;  // and again this long after
  bool attached = false;  // to running processes: Finish() asks their agents to stop at once
  // The agents are of a service: they keep their connections, and look for the next collector once
  // Finish() has asked them to stop, which it does at once.
  bool of_service = false;
  uint64_t most_bytes_per_second = 0;    // that are read of one agent; 0: any
  WorkloadSpec workload_spec;            // recorded with the run
  AlertLimits alert_limits;              // the same
  std::vector<DeviceCeilings> ceilings;  // what this machine's GPUs were measured to attain
  std::string cupti_path;                // a libcupti that the user named for the sampler
  std::string program_prefix;  // what the command is installed in: its Python may bring a libcupti
  // Run as `<this> sampler …`; empty: no sampler at all, not even for totals.
  std::string sampler_executable = "/proc/self/exe";
  // Takes snapshots of the run's metrics while it goes on, and one at its end; must return at once.
  // Unset: none are made. Called from one thread at a time.
  std::function<void(MetricsSnapshot snapshot)> publish_metrics;
  PlaceFinders places;  // for their labels, and for the processes in the profile
  // Where others may ask how the run goes (collector/live); empty: nobody can.
  std::string live_folder;
  // What the page of a server in the job said last; returns at once. Unset: there is no such page.
  std::function<std::optional<ApplicationReading>()> read_application;
  // Takes alarms, each when it is raised and once more when it is over; must return at once. Unset:
  // nobody looks for any. Called as publish_metrics is.
  std::function<void(const Alarm& alarm)> report_alarm;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_SESSION_OPTIONS_H_
