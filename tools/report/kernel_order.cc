#include "tools/report/kernel_order.h"

#include <algorithm>

namespace utlz {
namespace {

double SortKey(const KernelSummary& kernel, KernelOrder order) {
  switch (order) {
    case KernelOrder::kSavings:
      return kernel.estimated_savings_ns();
    case KernelOrder::kTime:
      return kernel.time_ns();
    case KernelOrder::kFlops:
      return kernel.flops();
    case KernelOrder::kBytes:
      return kernel.dram_bytes();
    case KernelOrder::kLaunches:
      return static_cast<double>(kernel.launches());
  }
  return 0;
}

}  // namespace

const char* NameOf(KernelOrder order) {
  switch (order) {
    case KernelOrder::kSavings:
      return "estimated savings";
    case KernelOrder::kTime:
      return "time";
    case KernelOrder::kFlops:
      return "FLOPs";
    case KernelOrder::kBytes:
      return "bytes";
    case KernelOrder::kLaunches:
      return "launches";
  }
  return "";
}

std::vector<const KernelSummary*> SortedKernels(const Summary& summary, KernelOrder order) {
  std::vector<const KernelSummary*> kernels;
  for (const KernelSummary& kernel : summary.kernels()) kernels.push_back(&kernel);
  std::stable_sort(kernels.begin(), kernels.end(), [&](const auto* a, const auto* b) {
    const double key_a = SortKey(*a, order);
    const double key_b = SortKey(*b, order);
    return key_a != key_b ? key_a > key_b : a->time_ns() > b->time_ns();
  });
  return kernels;
}

}  // namespace utlz
