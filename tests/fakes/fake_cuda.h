// What a target program tells the fake GPU: the kernels that exist, what each launch does, and what
// becomes of its activity record. A module's image (cuModuleLoadData) is a ModuleImage.
#ifndef UTLZ_TESTS_FAKES_FAKE_CUDA_H_
#define UTLZ_TESTS_FAKES_FAKE_CUDA_H_

#include <cstdint>

namespace utlz::fake {

// One launch of a kernel does this, whatever its grid.
struct KernelImage {
  const char* name;  // mangled, as the binary would hold it
  uint64_t duration_ns;
  double tensor_flops = 0;
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  uint16_t registers_per_thread = 32;
  uint32_t static_shared_bytes = 0;
  uint32_t local_bytes_per_thread = 0;
  // Kernels that this one launches from the device, each as one launch of `device_child`.
  uint32_t device_launches = 0;
  const KernelImage* device_child = nullptr;
  // Of a collective: so many processes of one simulated GPU launch it, and it ends in all of them
  // at once, `duration_ns` after it began in the last. A launch returns when all have come.
  uint32_t ranks = 1;
};

inline constexpr uint64_t kModuleMagic = 0x454c55444f4d4b46;

struct ModuleImage {
  uint64_t magic = kModuleMagic;
  uint32_t kernel_count = 0;
  const KernelImage* kernels = nullptr;
};

// What happens to the activity record of a launch.
enum class RecordFate : uint32_t {
  kNormal = 0,
  kZeroTime = 1,  // arrives with start = end = 0
  kMissing = 2,   // never arrives, and nobody says so
  kDropped = 3,   // never arrives, counted by cuptiActivityGetNumDroppedRecords
  kLate = 4,      // arrives 100 ms after its end
};

#pragma GCC visibility push(default)
extern "C" {
// For the calling thread's launches from now on.
void FakeCudaSetRecordFate(RecordFate fate);
// Makes the next CUDA call of this thread that runs work return `result`.
void FakeCudaFailNextCall(int result);
// How often the body of a conditional node runs at each launch of its graph.
void FakeCudaSetConditionalRuns(uint64_t handle, uint32_t runs);
// The GPU's counts so far, over all processes that share it.
uint64_t FakeCudaWorkCount();
// Of libcupti, by dlsym: how many activity kinds and range profilers are on, plus one if there is a
// subscriber.
uint32_t FakeCuptiSwitchedOn();
// How many threads are registering buffer callbacks.
uint32_t FakeCuptiCallbacksBeingRegistered();
// How many of these range profilers have been started and not stopped.
uint32_t FakeCuptiRangesCounting();
}
#pragma GCC visibility pop

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_FAKE_CUDA_H_
