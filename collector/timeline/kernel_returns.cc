#include "collector/timeline/kernel_returns.h"

namespace utlz {

void KernelReturns::Add(const Activity& activity) {
  if (activity.kernel == kNoKernel) return;
  ++launches_;
  if (activity.kernel >= kMaxKernels) return;
  if (activity.kernel >= kernels_.size()) kernels_.resize(activity.kernel + 1);
  Kernel& kernel = kernels_[activity.kernel];
  const uint64_t absent = kernel.last == 0 ? UINT64_MAX : launches_ - kernel.last - 1;
  kernel.last = launches_;
  if (absent < kernel.shortest_kept) return;
  if (kernel.returns.size() >= kMostReturns) GiveUpTheShort(&kernel);
  if (absent >= kernel.shortest_kept) kernel.returns.push_back({activity.start_ns, absent});
}

void KernelReturns::GiveUpTheShort(Kernel* kernel) {
  while (kernel->returns.size() > kMostReturns / 2 && kernel->shortest_kept < UINT64_MAX / 2) {
    kernel->shortest_kept *= 2;
    std::erase_if(kernel->returns,
                  [kernel](const Return& one) { return one.absent < kernel->shortest_kept; });
  }
}

std::vector<std::vector<uint64_t>> KernelReturns::After(uint64_t launches) const {
  std::vector<std::vector<uint64_t>> all;
  for (const Kernel& kernel : kernels_) {
    if (kernel.shortest_kept > launches) continue;
    std::vector<uint64_t> starts;
    for (const Return& one : kernel.returns) {
      if (one.absent >= launches) starts.push_back(one.start_ns);
    }
    if (!starts.empty()) all.push_back(std::move(starts));
  }
  return all;
}

}  // namespace utlz
