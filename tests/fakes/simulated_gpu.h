// The simulated GPU: what ran on it and when, in memory that every process using it maps, so that
// a sampler in another process counts the work of the target. Thread- and process-safe.
#ifndef UTLZ_TESTS_FAKES_SIMULATED_GPU_H_
#define UTLZ_TESTS_FAKES_SIMULATED_GPU_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace utlz::fake {

// The device that the fakes describe: an H200 in all that counters and peaks depend on.
inline constexpr char kDeviceName[] = "NVIDIA H200";
inline constexpr char kChipName[] = "GH100";
inline constexpr uint32_t kMultiprocessors = 132;
inline constexpr double kSmClockHz = 1.98e9;
inline constexpr double kTensorFlopsPerCycle = 4096.0 * kMultiprocessors;  // dense bf16
inline constexpr double kDramBytesPerSecond = 4.8e12;
inline constexpr uint64_t kMemoryBytes = uint64_t{141} << 30;

// One stretch of work on the device, times on CLOCK_REALTIME.
struct Work {
  uint64_t start_ns;
  uint64_t end_ns;
  double tensor_flops;
  double dram_read_bytes;
  double dram_write_bytes;
  uint32_t device;
  uint32_t is_kernel;  // keeps the SMs active
};

uint64_t NowNs();

class SimulatedGpu {
 public:
  // Maps the file that the scenario's `gpu` names, or private memory where there is none.
  static SimulatedGpu& Instance();

  void Add(const Work& work);
  uint64_t count() const;
  // Work number `index`; the table keeps the last kCapacity.
  bool Get(uint64_t index, Work* work) const;

  // The counters of a device belong to one process at a time.
  bool TakeCounters(uint32_t device, pid_t pid);
  void ReleaseCounters(uint32_t device, pid_t pid);

  // A collective that begins at `start_ns` in this process: returns when `ranks` processes have
  // come to it, each from a device of its own, with the latest begin. Each process comes to all of
  // them, one by one.
  uint64_t MeetOthers(uint32_t device, uint32_t ranks, uint64_t start_ns);
  // Whether a process is in MeetOthers with this device.
  bool WaitsForOthers(uint32_t device) const;

 private:
  struct Shared;
  explicit SimulatedGpu(Shared* shared) : shared_(shared) {}

  Shared* shared_;
  std::atomic<uint64_t> meetings_{0};  // of this process
};

// Totals of the work inside an interval, each piece spread evenly over its own time.
struct Totals {
  double tensor_flops = 0;
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  double active_ns = 0;  // some kernel was running
};
Totals CountInterval(const std::vector<Work>& work, uint64_t start_ns, uint64_t end_ns);

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_SIMULATED_GPU_H_
