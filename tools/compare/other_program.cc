#include "tools/compare/other_program.h"

#include <algorithm>
#include <optional>

#include "tools/compare/change_text.h"

namespace utlz {
namespace {

// Of the kernel time of the side that knows least of the other; absent without kernel times.
std::optional<double> SharedKernelTime(const Difference& difference) {
  double before = 0, after = 0, shared_before = 0, shared_after = 0;
  for (const KernelChange& kernel : difference.kernels) {
    const bool shared = kernel.matched_by != MatchedBy::kNothing;
    before += kernel.time_ns.before.value_or(0);
    after += kernel.time_ns.after.value_or(0);
    shared_before += shared ? kernel.time_ns.before.value_or(0) : 0;
    shared_after += shared ? kernel.time_ns.after.value_or(0) : 0;
  }
  if (before <= 0 || after <= 0) return std::nullopt;
  return std::min(shared_before / before, shared_after / after);
}

// Below this, other reasons for a refusal hardly matter.
constexpr double kLeastSharedTime = 0.25;

}  // namespace

bool OfDifferentPrograms(const Difference& difference) {
  bool before = false;
  bool after = false;
  for (const KernelChange& kernel : difference.kernels) {
    if (kernel.matched_by != MatchedBy::kNothing) return false;
    before = before || !kernel.name_before.empty();
    after = after || !kernel.name_after.empty();
  }
  return before && after;
}

std::string OtherProgramText(const Difference& difference) {
  if (OfDifferentPrograms(difference)) {
    return "The sides have no kernel in common: they are runs of different programs.";
  }
  const std::optional<double> shared = SharedKernelTime(difference);
  if (!shared || *shared >= kLeastSharedTime) return "";
  return "The kernels that both sides have take only " + NumberText(shared, "share") +
         " of a side's kernel time: these may be different programs.";
}

}  // namespace utlz
