// What the report knows of a kernel, under Nsight Compute's metric names, for one of its launches.
#ifndef UTLZ_TOOLS_EXPORT_KERNEL_METRICS_H_
#define UTLZ_TOOLS_EXPORT_KERNEL_METRICS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collector/run/process_table.h"
#include "proto/summary.pb.h"

namespace utlz {

class KernelMetrics {
 public:
  struct Metric {
    std::string_view name;
    double value = 0;
  };
  struct Metrics {
    uint32_t row = 0;  // index into Summary.kernels
    double mean_ns = 0;
    std::vector<Metric> arguments;  // means of one launch: bytes, FLOPs, shares in per cent
    std::vector<Metric> rates;      // those of them that hold for any stretch of the launch
  };

  explicit KernelMetrics(const Summary& summary);

  // Of the kernel with this name and shape; where its launches do different work, of the kind whose
  // mean is nearest to `duration_ns`. Null where nothing is known.
  const Metrics* Find(std::string_view mangled_name, const VariantShape& shape,
                      std::string_view device_uuid, uint64_t duration_ns) const;

  // All kinds of the kernel with this name and shape; null where there is none.
  const std::vector<Metrics>* KindsOf(std::string_view mangled_name, const VariantShape& shape,
                                      std::string_view device_uuid) const;
  // Of these, at least one, the one whose mean is nearest.
  static const Metrics& NearestOf(const std::vector<Metrics>& kinds, uint64_t duration_ns);

 private:
  std::map<std::string, std::vector<Metrics>> kinds_by_kernel_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_KERNEL_METRICS_H_
