#include "collector/metrics/worth_table.h"

#include <span>

#include "collector/analysis/reference_peak.h"

namespace utlz {

void WorthTable::Renew(const RunState& state, const Analysis& analysis) {
  worths_.assign(state.kernels.kernels().size(), UnknownWorth());
  const std::span<const KernelRow> rows(analysis.rows);
  for (size_t begin = 0; begin < rows.size();) {
    const uint32_t kernel = rows[begin].kernel;
    size_t end = begin + 1;
    while (end < rows.size() && rows[end].kernel == kernel) ++end;
    worths_[kernel] = WorthOf(rows.subspan(begin, end - begin),
                              analysis.devices[state.kernels[kernel].device].ceilings);
    begin = end;
  }
  renewed_ns_ = state.NewestNs();
  peak_of_run_ = PeakOfRun(state, analysis).flops_per_second;
}

}  // namespace utlz
