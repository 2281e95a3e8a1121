// Which kernel of one side is which of the other.
//
// By function, grid, block, cluster and kind first; then by function where its shape changed; then
// by role: another function of the same class (matrix product, normalization, …) with as many
// launches a step and the same FLOPs. One to one, best match first.
#ifndef UTLZ_TOOLS_COMPARE_KERNEL_MATCH_H_
#define UTLZ_TOOLS_COMPARE_KERNEL_MATCH_H_

#include <string>
#include <string_view>
#include <vector>

#include "proto/summary.pb.h"
#include "tools/compare/estimate.h"

namespace utlz {

// One kernel on one side: the same variant of all devices and processes, in every run of the side.
struct KernelGroup {
  std::string function;  // mangled name, or the demangled one where that is all there is
  std::string short_name;
  std::string shape;
  std::string variant_label;
  std::string_view work;  // KernelClass(function)
  Estimates time_ns;      // by run; a run without the kernel has time and launches of zero
  Estimates launches;
  Estimates flops;
  Estimates dram_bytes;

  double MeanTime() const;
};

// Function and shape of a variant: all kinds of its launches together.
struct KernelShape {
  std::string function;
  std::string shape;

  auto operator<=>(const KernelShape&) const = default;
};
KernelShape ShapeOf(const KernelSummary& kernel);

// Kernels of a side, times divided by `divisor[run]`. Ordered by function and shape.
std::vector<KernelGroup> GroupKernels(const std::vector<Summary>& runs,
                                      const std::vector<double>& divisor);

// A run divides launches of one shape that do different work into kinds, by how long they take, and
// one run may find more kinds than another. If the sides disagree on a kernel's kinds, this joins
// them.
void JoinUnequalKinds(std::vector<KernelGroup>* before, std::vector<KernelGroup>* after);

struct KernelMatch {
  const KernelGroup* before = nullptr;
  const KernelGroup* after = nullptr;
  MatchedBy by = MatchedBy::kNothing;
};

// The groups must outlive the result.
std::vector<KernelMatch> MatchKernels(const std::vector<KernelGroup>& before,
                                      const std::vector<KernelGroup>& after);

// What a function does, read from its name: "matrix product", "attention", … or empty. Only used to
// pair functions whose other numbers agree.
std::string_view KernelClass(std::string_view function_name);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_KERNEL_MATCH_H_
