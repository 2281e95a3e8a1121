// Makes the frames that the agent of a simulated run sends: new kernels, launches, trace windows,
// and counts of operations.
#ifndef UTLZ_BENCH_SAMPLING_LAUNCH_FRAMES_H_
#define UTLZ_BENCH_SAMPLING_LAUNCH_FRAMES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/sampling/start_up_load.h"
#include "collector/decode/launch_decoder.h"
#include "collector/run/run_intake.h"
#include "collector/session/records_watch.h"

namespace utlz {

// Of the times in frames; those of the simulation begin with 0.
inline constexpr uint64_t kSimulationStartNs = 1'700'000'000'000'000'000;

class LaunchFrames {
 public:
  LaunchFrames(const RecordedLoad& recorded, RunIntake* intake);

  const std::string& uuid() const { return uuid_; }
  // What a collector knows of its records.
  const RecordsWatch& records() const { return records_; }

  void Begin();
  // True where it is the first that was traced of its kernel.
  bool Ran(const LoadLaunch& launch, const std::vector<RecordedKernel>& kernels, bool traced);
  void Switched(uint64_t now_ns, bool on);
  // As statuses say it from now on.
  void SetRecordsState(RecordsState state) { records_state_ = state; }
  // All that ran before `now_ns`.
  void HandOver(uint64_t now_ns);

 private:
  template <typename Message>
  void Send(FrameType type, const Message& message);
  void Announce(const RecordedKernel& kernel);
  void SendWindow(uint64_t end_ns, bool gap);

  const RecordedLoad& recorded_;
  RunIntake* intake_;
  std::string uuid_;
  std::map<uint32_t, uint32_t> variants_;  // by kernel
  RecordsWatch records_;
  RecordsState records_state_ = RECORDS_FROM_START;
  DecodedLaunches pending_;
  uint64_t numbered_ = 0;
  uint64_t recorded_launches_ = 0;
  uint64_t switched_on_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_BENCH_SAMPLING_LAUNCH_FRAMES_H_
