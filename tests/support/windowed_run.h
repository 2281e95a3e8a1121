// A made-up run of one process that launches a kernel every kLaunchNs. It is traced in windows, and
// the agent counts what the process launches between them.
#ifndef UTLZ_TESTS_SUPPORT_WINDOWED_RUN_H_
#define UTLZ_TESTS_SUPPORT_WINDOWED_RUN_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/made_up_loads.h"

namespace utlz {

class WindowedRun {
 public:
  static constexpr uint64_t kLaunchNs = 10 * kMicrosecond;

  explicit WindowedRun(const std::vector<std::string>& kernels, const SummaryOptions& options = {})
      : run_(options) {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels(kernels);
  }

  // One launch of this kernel takes so many times as long as those of others.
  void KernelTakes(uint32_t kernel, double times) { times_[kernel] = times; }

  // The process launches these kernels in a window of their own, slower by `slowdown`.
  void Trace(const std::vector<uint32_t>& kernels, double slowdown = 1) {
    SendStatus();
    const uint64_t start_ns = now_ns_;
    run_.SendWindow(start_ns, 0);
    in_gaps_ += std::exchange(untraced_, 0);
    std::vector<Launch> launches;
    for (const uint32_t kernel : kernels) {
      const auto longer = times_.find(kernel);
      const double length_ns =
          (longer == times_.end() ? 1 : longer->second) * static_cast<double>(kLaunchNs);
      launches.push_back(
          RunBuilder::LaunchAt(now_ns_, static_cast<uint64_t>(length_ns) / 2, kernel));
      now_ns_ += static_cast<uint64_t>(slowdown * length_ns);
    }
    run_.SendLaunches(launches);
    recorded_ += kernels.size();
    run_.SendWindow(start_ns, now_ns_);
  }

  void LeaveUntraced(size_t launches) {
    if (!ended_) untraced_ += launches;
    now_ns_ += launches * kLaunchNs;
  }

  // The agent ends records for the process. CUPTI then numbers no operations.
  void EndRecords() {
    ended_ = true;
    SendStatus();
  }

  Summary EndRun() {
    SendStatus();
    return run_.EndRun(now_ns_);
  }

 private:
  // The agent sends its counts before a window opens, and at the end.
  void SendStatus() { run_.SendOperationCounts(recorded_, in_gaps_, ended_); }

  RunBuilder run_;
  std::map<uint32_t, double> times_;
  uint64_t now_ns_ = 0;
  uint64_t recorded_ = 0;
  uint64_t in_gaps_ = 0;
  uint64_t untraced_ = 0;  // since the last window
  bool ended_ = false;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_WINDOWED_RUN_H_
