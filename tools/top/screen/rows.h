// The rows of the tables: which processes, and which kernels, layers or lines are shown, in which
// order. Pure.
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

// A kernel, a layer or a line. Texts are not escaped.
struct WorkRow {
  WorkId id = {};
  std::string name = {};
  std::string about = {};  // the family of a kernel, the class of a layer; may be empty
  std::optional<double> time_share = {};
  std::optional<double> mean_time_ns = {};
  std::optional<double> roof_share = {};
  std::optional<double> flops_per_second = {};
  std::optional<double> dram_bytes_per_second = {};
  Bound bound = BOUND_UNKNOWN;
};

// Most time first. Kernels are those that this process launched; layers and lines are of its run.
std::vector<WorkRow> WorkRows(const RunOfProcess& live, WorkKind listed);

// The row that is selected; 0 where what was is gone.
size_t SelectedProcess(const std::vector<ProcessRow>& rows, const View& view);
size_t SelectedWork(const std::vector<WorkRow>& rows, const View& view);

// "GPU memory" and so on.
const char* NameOf(SortKey key);
// "kernel", "layer" or "line".
const char* NameOf(WorkKind kind);
// The list after this one.
WorkKind After(WorkKind kind);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_ROWS_H_
