// A recorded run as if it went on now: snapshots of its GPUs, processes and kernels in real time.
// For tests and demonstrations on machines without a GPU. Thread safety: none.
#ifndef UTLZ_TOOLS_TOP_PROFILE_REPLAY_H_
#define UTLZ_TOOLS_TOP_PROFILE_REPLAY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "collector/live/live_report.h"
#include "collector/profile/profile_reader.h"
#include "collector/run/run_intake.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

class ProfileReplay {
 public:
  static absl::StatusOr<ProfileReplay> Open(const std::string& path);

  // What was known so long after the run began. Times do not go back.
  Snapshot Read(uint64_t elapsed_ns);

 private:
  explicit ProfileReplay(ProfileReader reader) : reader_(std::move(reader)) {}

  void Consume(uint16_t type, std::string_view payload);
  void AddProcesses(uint64_t now_ns, Snapshot* snapshot) const;

  ProfileReader reader_;
  std::unique_ptr<RunIntake> intake_ = std::make_unique<RunIntake>();
  LiveReport report_;
  uint64_t start_ns_ = 0;
  LiveSnapshot run_;  // as it was reported last
  uint64_t next_report_ns_ = 0;
  bool ended_ = false;
  std::map<std::string, GpuSnapshot> gpus_;  // by UUID, as NVML read them last
};

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_PROFILE_REPLAY_H_
