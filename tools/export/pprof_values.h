// Which values a pprof sample has, and the report's figures as such values.
#ifndef UTLZ_TOOLS_EXPORT_PPROF_VALUES_H_
#define UTLZ_TOOLS_EXPORT_PPROF_VALUES_H_

#include <array>
#include <cstdint>
#include <vector>

#include "proto/summary.pb.h"
#include "tools/export/pprof_writer.h"

namespace utlz {

// Of one sample, or the sum of several.
struct PprofValues {
  int64_t gpu_time_ns = 0;
  int64_t idle_time_ns = 0;
  int64_t flops = 0;  // or millions of them
  int64_t dram_bytes = 0;
  int64_t launches = 0;

  bool empty() const {
    return gpu_time_ns == 0 && idle_time_ns == 0 && flops == 0 && dram_bytes == 0 && launches == 0;
  }
};

class PprofValueSet {
 public:
  // FLOPs and bytes are values where the report has any, and `counters` asks for them.
  PprofValueSet(const Summary& summary, bool counters);

  std::vector<PprofValueType> Types() const;
  // In the order of the types.
  std::vector<int64_t> ValuesOf(const PprofValues& values) const;
  // What the report says of a kernel.
  PprofValues TotalOf(const KernelSummary& kernel) const;

 private:
  bool flops_ = false;
  bool dram_bytes_ = false;
  // More FLOPs than 63 bits hold are counted in millions.
  double flops_unit_ = 1;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_PPROF_VALUES_H_
