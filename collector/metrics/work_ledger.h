// What processes did on GPUs, added up so that it only grows. Each launch is counted once, at what
// it is worth by then: later estimates change later launches alone.
//
// Counts of launches are estimates themselves where tracing is in windows, and may shrink. What was
// counted stays counted, and nothing is added until the estimate has passed it again.
//
// Bounded by kernels, processes and GPUs of the run; the sums by kMostPairs. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_WORK_LEDGER_H_
#define UTLZ_COLLECTOR_METRICS_WORK_LEDGER_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/kernel_names/kernel_family.h"
#include "collector/metrics/kernel_worth.h"
#include "collector/metrics/time_cause.h"
#include "collector/metrics/worth_table.h"
#include "collector/run/run_state.h"

namespace utlz {

struct FamilyWork {
  double launches = 0;
  double time_ns = 0;
  std::optional<double> savings_ns;
};

// As it comes: without the launches that had to wait for counters. Communication is left out.
struct ComputeWork {
  double kernel_ns = 0;
  double counted_ns = 0;  // of it, with known FLOPs
  double peak_ns = 0;     // of what was counted
};

// Of one process on one GPU.
struct WorkSum {
  std::map<std::string, double> flops;  // by data type
  std::optional<double> peak_ns;
  std::optional<double> read_bytes;
  std::optional<double> write_bytes;
  double flops_uncounted_ns = 0;  // of kernels whose FLOPs are not known
  double bytes_uncounted_ns = 0;
  ComputeWork compute{};
  std::array<FamilyWork, kKernelFamilies> families{};
};

// Of one GPU.
struct DeviceWork : ComputeWork {
  CauseTimes causes_ns{};  // of kernel_ns
};

class WorkLedger {
 public:
  static constexpr size_t kMostPairs = 128;
  static constexpr size_t kMostTypes = 16;
  // The process that stands for all that have no pair of their own.
  static constexpr uint32_t kOthers = UINT32_MAX;
  // For so long launches wait until counters have met their kernel, and then for the next renewal
  // of what launches are worth.
  static constexpr uint64_t kPatienceNs = 30'000'000'000;
  // For so long the sums of a process that has ended stay.
  static constexpr uint64_t kKeptNs = 300'000'000'000;

  void Update(const RunState& state, const WorthTable& worths);

  // By index of the device, and source of the process or kOthers.
  const std::map<std::pair<uint32_t, uint32_t>, WorkSum>& sums() const { return sums_; }
  // As DeviceTable; shorter where the last ones did nothing.
  const std::vector<DeviceWork>& devices() const { return devices_; }

 private:
  struct Growth {
    double launches = 0;
    double time_ns = 0;
  };
  // Launches whose FLOPs, or bytes, were counted or given up. Those beyond wait.
  struct Settled {
    Growth sum;
    uint64_t waiting_since_ns = 0;  // 0: nothing waits
  };
  struct Counted {
    Growth sum;
    Settled flops;
    Settled bytes;
  };

  void CountKernel(const RunState& state, uint32_t index, const WorthTable& worths);
  void CountShare(const RunState& state, const Kernel& kernel, KernelFamily family,
                  const KernelWorth& worth, const KernelShare& share, Counted* counted);
  static void CountCompute(const Growth& growth, const KernelWorth& worth, ComputeWork* work);
  void CountWorth(const KernelWorth& worth, uint64_t now_ns, const Growth& whole, Counted* counted,
                  WorkSum* sum);
  // What may be counted, or given up, by now of launches that are known for this share of their
  // time; nothing while they wait.
  Growth Settle(double known_share, uint64_t now_ns, const Growth& whole, Settled* settled) const;
  bool StillWaits(uint64_t now_ns, Settled* settled) const;
  WorkSum& SumOf(uint32_t device, uint32_t source);
  void ForgetEnded(const RunState& state);

  std::unordered_map<uint64_t, Counted> counted_;  // by kernel and process
  std::map<std::pair<uint32_t, uint32_t>, WorkSum> sums_;
  std::vector<DeviceWork> devices_;
  uint64_t renewed_ns_ = 0;       // the worth of launches
  std::set<uint32_t> others_;     // processes whose work is in kOthers
  std::set<uint32_t> forgotten_;  // processes that ended long ago
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_WORK_LEDGER_H_
