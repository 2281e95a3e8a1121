// The rows of the tables: which processes and kernels are shown, in which order. Pure.
#ifndef UTLZ_TOOLS_TOP_SCREEN_ROWS_H_
#define UTLZ_TOOLS_TOP_SCREEN_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/top/screen/view.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

// A process on all of its GPUs. Pointers are into the snapshot.
struct ProcessRow {
  const ProcessSnapshot* process = nullptr;  // as its first GPU lists it
  std::vector<unsigned> gpus = {};
  std::optional<uint64_t> memory_bytes = {};  // on all of them
  RunOfProcess live = {};
  int depth = 0;  // in the tree
  size_t children = 0;
};

std::vector<const GpuSnapshot*> VisibleGpus(const Snapshot& snapshot, const View& view);

std::vector<ProcessRow> ProcessRows(const Snapshot& snapshot, const View& view);

// Of the run of this process, those that it launched first: most time first.
std::vector<const LiveKernel*> KernelRows(const RunOfProcess& live);

// The row that is selected; 0 where what was is gone.
size_t SelectedProcess(const std::vector<ProcessRow>& rows, const View& view);
size_t SelectedKernel(const std::vector<const LiveKernel*>& rows, const View& view);

KernelId IdOf(const LiveSnapshot& run, const LiveKernel& kernel);

// "GPU memory" and so on.
const char* NameOf(SortKey key);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_ROWS_H_
