// Which GPUs of a run stand under one roof. A kernel is judged by the roof of the GPU that it ran
// on; whatever shows kernels under one roof must choose whose, and name it where others differ.
// Pure, thread-safe.
#ifndef UTLZ_TOOLS_REPORT_DEVICE_ROOFS_H_
#define UTLZ_TOOLS_REPORT_DEVICE_ROOFS_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proto/summary.pb.h"

namespace utlz {

// Where in `summary.devices()` the GPU of a kernel is: the first where none is named, or one that
// is not listed. The summary must outlive it, unchanged.
class DeviceIndex {
 public:
  explicit DeviceIndex(const Summary& summary);

  int Of(const KernelSummary& kernel) const;

 private:
  std::unordered_map<std::string_view, int> by_uuid_;
};

// Whether a chart may show kernels of both under the roof of either: GPUs of one name with the same
// peaks at the highest clock, as far as both are known. A clock that is held down makes no other
// GPU.
bool ShareRoof(const DeviceSummary& a, const DeviceSummary& b);

// False where a figure of one GPU's roof says nothing about another GPU's kernels.
bool AllShareRoof(const Summary& summary);

// GPUs of one name that are listed one after another.
struct DevicesOfName {
  std::string name;  // as the driver gave it: not escaped; empty = not known
  int count = 0;
};
std::vector<DevicesOfName> CountDevices(const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_DEVICE_ROOFS_H_
