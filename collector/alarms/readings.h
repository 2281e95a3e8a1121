// What alarms look at: how far a job was at one moment. Totals only grow but for estimates that
// were revised. What is not known is absent.
#ifndef UTLZ_COLLECTOR_ALARMS_READINGS_H_
#define UTLZ_COLLECTOR_ALARMS_READINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace utlz {

// Of a GPU that the job uses.
struct DeviceReading {
  std::string uuid = {};  // "GPU-…"
  uint64_t known_ns = 0;  // up to which its kernels are known
  double kernel_ns = 0;   // totals up to then, of kernels that are no communication
  double counted_ns = 0;  // of it, with FLOPs and bytes
  double peak_ns = 0;     // that these FLOPs need at the peak
  // What nvidia-smi calls utilization, of the last readings.
  std::optional<double> busy = std::nullopt;
};

// Of a process with an agent, on one GPU that it holds.
struct ProcessReading {
  uint32_t source = 0;
  uint64_t pid = 0;
  std::optional<uint32_t> rank = std::nullopt;
  uint32_t device = 0;          // index into Readings::devices
  double compute_ns = 0;        // totals of kernels
  double communication_ns = 0;  // the same, of communication libraries
  double operations = 0;        // kernels, copies, sets, launches of graphs, by CUPTI's numbers
  uint64_t operations_ns = 0;   // up to which these are known for sure
  uint64_t known_ns = 0;        // up to which kernels are known
  uint64_t last_work_ns = 0;    // when the newest of its records ended; 0: there is none
  uint64_t held_since_ns = 0;   // when its agent began
  // The collective that its last kernels are followed by, by the order of those before.
  std::string next_collective = {};
};

// Of the server in the job, by its own page.
struct ServerReading {
  uint64_t time_ns = 0;
  double waiting = 0;   // requests in its queue
  double produced = 0;  // total of tokens, or of requests where it counts no tokens
};

struct Readings {
  uint64_t now_ns = 0;  // on the clock of the records
  std::vector<DeviceReading> devices = {};
  std::vector<ProcessReading> processes = {};         // that live
  std::optional<double> step_seconds = std::nullopt;  // when steps were seen last
  std::optional<ServerReading> server = std::nullopt;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ALARMS_READINGS_H_
