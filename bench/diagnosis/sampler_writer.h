// Writes what utlz's sampler would have recorded of one GPU of a planned run: its peaks, its
// counters in sampling windows, and what NVML says five times a second. Thread safety: none.
#ifndef UTLZ_BENCH_DIAGNOSIS_SAMPLER_WRITER_H_
#define UTLZ_BENCH_DIAGNOSIS_SAMPLER_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/diagnosis/planned_run.h"
#include "bench/diagnosis/planned_work.h"
#include "bench/diagnosis/recording_windows.h"
#include "collector/profile/profile_writer.h"

namespace utlz {

class SamplerWriter {
 public:
  // What it refers to must outlive it. `index`: of the rank that uses the GPU.
  SamplerWriter(const PlannedRun& run, uint32_t index, const std::string& uuid,
                std::vector<RecordingWindow> sampled, ProfileWriter* writer);

  void AnnounceDevice();
  void AnnounceCounters();
  void WriteUntil(uint64_t time_ns);

 private:
  template <typename Message>
  void Write(FrameType type, const Message& message) {
    // Write errors are kept and come back from Finish().
    (void)writer_->Append(0, static_cast<uint16_t>(type), message.SerializeAsString());
  }
  void WriteSamples(uint64_t until_ns);
  void WriteWindowOfSamples(const RecordingWindow& window);
  void WriteTotals(uint64_t until_ns);
  void AddReading(uint64_t time_ns, DeviceTotalsBatch* totals);

  const PlannedRun& run_;
  const PlannedRank& rank_;
  const uint32_t metric_set_;
  const std::string uuid_;
  const double clock_hz_;
  const PlannedWork work_;
  const std::vector<RecordingWindow> sampled_;
  ProfileWriter* writer_;
  size_t next_sampled_ = 0;
  uint64_t next_totals_ns_ = 0;
  double energy_joules_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_SAMPLER_WRITER_H_
