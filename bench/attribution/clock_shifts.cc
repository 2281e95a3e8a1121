// How the time shift between a profile's counter samples and its launches moves over a run.
//
//   clock_shifts FILE.utlz [SECONDS]
//
// Prints one row for each stretch of SECONDS (10) of the profile: when it began, the samples that
// lie in traced time, and the shift that they determine alone, for each group of counters.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/attribution/shift_groups.h"
#include "collector/attribution/shift_search.h"
#include "collector/counters/counter_set.h"
#include "collector/decode/copy_decoder.h"
#include "collector/decode/launch_decoder.h"
#include "collector/decode/parse.h"
#include "collector/decode/sample_decoder.h"
#include "collector/profile/profile_reader.h"
#include "proto/ring_abi.h"

namespace utlz {
namespace {

constexpr int64_t kReachNs = 100'000;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

struct Span {
  int64_t start_ns;
  int64_t end_ns;
};

// All samples of the first metric set, all launches and copies, and the times without tracing.
struct Run {
  attribution::Recording recording;
  std::vector<Span> traced;
  std::vector<attribution::ShiftGroup> groups;
  size_t variants = 0;
};

class RunReader {
 public:
  void Consume(const FrameView& frame) {
    switch (frame.type) {
      case FRAME_METRIC_SET:
        return AddMetricSet(frame.payload);
      case FRAME_SAMPLES:
        return AddSamples(frame.payload);
      case FRAME_LAUNCHES:
        return AddLaunches(frame.source, frame.payload);
      case FRAME_COPIES:
        return AddCopies(frame.payload);
      case FRAME_TRACE_WINDOW:
        return AddWindow(frame.payload);
      default:
        return;
    }
  }

  Run Finish() {
    Run run;
    run.variants = variants_.size() + 1;
    std::sort(launches_.begin(), launches_.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    constexpr int64_t kTailNs = 2000;
    for (size_t i = 0; i < launches_.size(); ++i) {
      int64_t tail_ns = launches_[i].end_ns + kTailNs;
      if (i + 1 < launches_.size()) tail_ns = std::min(tail_ns, launches_[i + 1].start_ns);
      launches_[i].tail_end_ns = std::max(tail_ns, launches_[i].end_ns);
    }
    run.recording = std::move(recording_);
    run.recording.launches = std::move(launches_);
    run.traced = std::move(traced_);
    std::vector<attribution::CounterSpec> counters;
    for (const size_t index : kept_) {
      const MetricRole role = counters_->roles()[index];
      const char* group = role == METRIC_DRAM_READ_BYTES    ? "dram read"
                          : role == METRIC_DRAM_WRITE_BYTES ? "dram write"
                                                            : "sm";
      attribution::CounterSpec counter;
      counter.name = MetricRole_Name(role);
      counter.shift_group = group;
      counters.push_back(std::move(counter));
    }
    run.groups = attribution::GroupCounters(counters);
    return run;
  }

 private:
  void AddMetricSet(std::string_view payload) {
    MetricSet message;
    if (counters_.has_value() || !Parse(payload, &message)) return;
    constexpr uint32_t kAnyMultiprocessors = 1;
    counters_.emplace(message, kAnyMultiprocessors);
    for (size_t i = 0; i < counters_->roles().size(); ++i) {
      if (counters_->roles()[i] != METRIC_SM_CYCLES_ELAPSED) kept_.push_back(i);
    }
    recording_.counters = kept_.size();
    set_ = std::move(message);
  }

  void AddSamples(std::string_view payload) {
    SampleBatch message;
    if (!counters_.has_value() || !Parse(payload, &message) || message.metric_set() != set_.id() ||
        !DecodeSamples(message, set_, &samples_)) {
      return;
    }
    for (size_t i = 0; i < samples_.size(); ++i) {
      if (!counters_->Convert({samples_.row(i), samples_.metrics}, &row_)) continue;
      recording_.samples.push_back(
          {static_cast<int64_t>(samples_.start_ns[i]), static_cast<int64_t>(samples_.end_ns[i])});
      for (const size_t index : kept_) recording_.values.push_back(row_[index]);
    }
  }

  void AddInterval(uint64_t variant, uint64_t start_ns, uint64_t end_ns) {
    const auto index =
        variants_.emplace(variant, static_cast<uint32_t>(variants_.size() + 1)).first->second;
    launches_.push_back({static_cast<int64_t>(start_ns), static_cast<int64_t>(end_ns),
                         static_cast<int64_t>(end_ns), index});
  }

  void AddLaunches(uint32_t source, std::string_view payload) {
    const DecodedLaunches* decoded = decoder_.Decode(payload);
    if (decoded == nullptr) return;
    for (const Launch& launch : decoded->launches) {
      AddInterval(uint64_t{source} << 32 | launch.variant, launch.start_ns, launch.end_ns);
    }
  }

  void AddCopies(std::string_view payload) {
    DecodedCopies copies;
    if (!DecodeCopies(payload, &copies)) return;
    for (const Copy& copy : copies.copies) {
      if (copy.end_ns <= copy.start_ns) continue;
      AddInterval(uint64_t{1} << 56 | static_cast<uint64_t>(copy.kind), copy.start_ns, copy.end_ns);
    }
  }

  // A window is told when it opens and again when it closes; one that never closed reaches to the
  // end.
  void AddWindow(std::string_view payload) {
    TraceWindow message;
    if (!Parse(payload, &message) || (message.flags() & kTraceKernels) == 0) return;
    const auto start_ns = static_cast<int64_t>(message.start_ns());
    const auto end_ns = static_cast<int64_t>(message.end_ns());
    if (!traced_.empty() && traced_.back().start_ns == start_ns) traced_.pop_back();
    traced_.push_back({start_ns, end_ns > start_ns ? end_ns : kNever});
  }

  std::optional<CounterSet> counters_;
  std::vector<size_t> kept_;
  MetricSet set_;
  DecodedSamples samples_;
  std::vector<double> row_;
  LaunchDecoder decoder_;
  attribution::Recording recording_;
  std::vector<attribution::Launch> launches_;
  std::vector<Span> traced_;
  std::map<uint64_t, uint32_t> variants_;
};

// The part of the run in [from, to), of it only samples that lie within one trace window.
attribution::Recording Slice(const Run& run, int64_t from_ns, int64_t to_ns) {
  attribution::Recording part;
  const attribution::Recording& whole = run.recording;
  part.counters = whole.counters;
  for (size_t i = 0; i < whole.samples.size(); ++i) {
    const attribution::Sample& sample = whole.samples[i];
    if (sample.start_ns < from_ns || sample.start_ns >= to_ns) continue;
    const bool traced = std::any_of(run.traced.begin(), run.traced.end(), [&](const Span& window) {
      return sample.start_ns - kReachNs >= window.start_ns &&
             sample.end_ns + kReachNs <= window.end_ns;
    });
    if (!traced) continue;
    if (!part.samples.empty() && sample.start_ns < part.samples.back().end_ns) continue;
    part.samples.push_back(sample);
    const auto values = whole.Values(i);
    part.values.insert(part.values.end(), values.begin(), values.end());
  }
  for (const attribution::Launch& launch : whole.launches) {
    if (launch.end_ns + kReachNs > from_ns && launch.start_ns - kReachNs < to_ns) {
      part.launches.push_back(launch);
    }
  }
  return part;
}

void PrintShifts(const Run& run, int64_t slice_ns) {
  if (run.recording.samples.empty()) {
    std::printf("no samples\n");
    return;
  }
  const int64_t begin_ns = run.recording.samples.front().start_ns;
  const int64_t end_ns = run.recording.samples.back().end_ns;
  std::printf("%10s %8s %9s", "seconds", "samples", "launches");
  for (const auto& group : run.groups) std::printf("  %26s", group.name.c_str());
  std::printf("\n");
  for (int64_t from_ns = begin_ns; from_ns < end_ns; from_ns += slice_ns) {
    const attribution::Recording part = Slice(run, from_ns, from_ns + slice_ns);
    std::printf("%10.2f %8zu %9zu", static_cast<double>(from_ns - begin_ns) * 1e-9,
                part.samples.size(), part.launches.size());
    for (const auto& shift : attribution::SearchShifts(part, run.variants, run.groups, 1)) {
      if (shift.shift_ns.has_value()) {
        std::printf("  %7.0f ns +- %4.0f (%6.0f)", *shift.shift_ns, shift.uncertainty_ns,
                    shift.used_shift_ns);
      } else {
        std::printf("  %26s", "not told");
      }
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: clock_shifts FILE.utlz [SECONDS]\n");
    return 2;
  }
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(argv[1]);
  if (!reader.ok()) {
    std::fprintf(stderr, "%s\n", std::string(reader.status().message()).c_str());
    return 1;
  }
  RunReader run;
  FrameView frame;
  while (reader->Next(&frame)) run.Consume(frame);
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10;
  PrintShifts(run.Finish(), static_cast<int64_t>(std::max(0.01, seconds) * 1e9));
  return 0;
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) { return utlz::Main(argc, argv); }
