// Kernel variants across processes: one function with one grid, block and cluster on one device,
// wherever it was launched from, graph nodes included. Holds what was counted and timed.
//
// Bounded: beyond kMaxKernels, or where the run has no memory left, launches go to one "other
// kernels" entry of their device.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_KERNEL_TABLE_H_
#define UTLZ_COLLECTOR_RUN_KERNEL_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/run/duration_histogram.h"
#include "collector/run/memory_budget.h"
#include "collector/run/process_table.h"
#include "collector/windows/window_work.h"

namespace utlz {

// What one process contributed to a kernel.
struct KernelShare {
  uint32_t source = 0;
  uint64_t launches = 0;
  uint64_t untimed = 0;
  uint64_t time_ns = 0;
  WindowWork by_window;
};

struct Kernel {
  uint32_t device = 0;          // index into DeviceTable
  std::string mangled_name;     // at most 16 KiB
  VariantShape shape;           // its name and graph_node mean nothing here
  bool communication = false;
  bool doubles = false;         // its name speaks of 64-bit floats
  bool profiler = false;        // CUPTI's own, beside a range: no work of the program
  bool other = false;           // the entry for all that did not fit
  uint32_t graph_nodes = 0;
  DurationHistogram durations;
  uint64_t first_start_ns = 0;  // of a timed launch; 0: none yet
  uint64_t last_start_ns = 0;
  std::vector<KernelShare> shares;  // by process, the latest user first

  KernelShare* ShareOf(uint32_t source);
  KernelShare* KnownShareOf(uint32_t source);  // null where there is none
};

class KernelTable {
 public:
  static constexpr size_t kMaxKernels = 65536;
  static constexpr size_t kMaxNameBytes = 16384;

  explicit KernelTable(std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>())
      : memory_(std::move(memory)) {}

  // Index of the kernel that `variant` of `process` is on `device`; makes it where it is new.
  uint32_t Find(ProcessState* process, uint32_t variant, uint32_t device);

  // What `source` contributed to the kernel; null where there is no room for it.
  KernelShare* ShareOf(uint32_t kernel, uint32_t source);

  Kernel& operator[](uint32_t index) { return kernels_[index]; }
  const Kernel& operator[](uint32_t index) const { return kernels_[index]; }
  const std::vector<Kernel>& kernels() const { return kernels_; }

 private:
  uint32_t Resolve(const ProcessState& process, uint32_t variant, uint32_t device);
  uint32_t Insert(const std::string& key, Kernel kernel);
  uint32_t OthersOf(uint32_t device);

  std::shared_ptr<MemoryBudget> memory_;
  std::vector<Kernel> kernels_;
  std::unordered_map<std::string, uint32_t> index_by_key_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_KERNEL_TABLE_H_
