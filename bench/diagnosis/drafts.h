// Healthy loads, step by step, from recorded kernels: names, shapes, order and work as recorded,
// times such as these kernels can reach. Causes are planted into them (causes.h).
#ifndef UTLZ_BENCH_DIAGNOSIS_DRAFTS_H_
#define UTLZ_BENCH_DIAGNOSIS_DRAFTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/diagnosis/planned_run.h"

namespace utlz {

// What good looks like, as shares of a roof: of matrix products, convolutions, attention, and of
// kernels that stream bytes.
inline constexpr double kGoodMatrix = 0.78;
inline constexpr double kGoodConvolution = 0.72;
inline constexpr double kGoodAttention = 0.65;
inline constexpr double kGoodStreaming = 0.90;
inline constexpr double kGoodOther = 0.88;

// When the first step begins.
inline constexpr uint64_t kStartUpNs = 1'000'000'000;

// One thing that a stream does, or does not do.
struct Item {
  // kBeside: a collective on another stream, hidden behind kernels. kOverlapped, kCopyOverlapped:
  // on another stream, while this one goes on.
  enum class Kind { kKernel, kBeside, kOverlapped, kGap, kCopy, kCopyOverlapped };
  Kind kind = Kind::kKernel;
  uint32_t kernel = 0;
  double time_ns = 0;
  double work_share = 1;  // of the kernel's work
  CopyKind copy = COPY_UNKNOWN;
  bool pageable = false;
  uint64_t bytes = 0;
};
using Step = std::vector<Item>;

inline Item Gap(double time_ns) { return {.kind = Item::Kind::kGap, .time_ns = time_ns}; }

// Of copies from and to pinned memory.
inline constexpr double kPinnedBytesPerNs = 25;

// The recordings that loads are made from, by what is in them; null: none was given.
struct Recordings {
  const RecordedLoad* transformer = nullptr;   // a training with layer norms and attention
  const RecordedLoad* convolutions = nullptr;  // a training with batch norms
  const RecordedLoad* decoder = nullptr;       // tokens one after the other
};

// One right answer to what a step is.
struct KnownLevel {
  size_t steps = 0;
  double step_ns = 0;  // mean
  bool usual = false;  // of most of them: a few hold something else as well
};

struct Draft {
  PlannedRun run;                        // without launches yet
  Step start_up;                         // before the steps, on each rank
  std::vector<std::vector<Step>> ranks;  // by rank, the steps
  double barrier_ns = 0;        // of a collective at the end of each step; 0: there is none
  double turnaround_ns = 1000;  // from a kernel's end to the next one's start
  size_t steps_per_call = 1;    // tokens of a call of a decoder
  double usual_step_ns = 0;     // of most steps, where a few hold something else as well; 0: of all
  std::vector<KnownLevel> levels;  // where neither of the two before says it
  bool has_steps = true;           // false: whatever is called a step is none
  bool busy_known = true;          // false: idle time between requests may count or not
  Recordings recordings;

  const Step& FirstStep() const { return ranks.front().front(); }
};

Recordings Sorted(const std::vector<RecordedLoad>& loads);

// Nothing where the recording that it is made from was not given. "training", "short", "mixed",
// "two_ranks", "new_shapes", "streaming", "loop", "convolutions", "decode", "generation", those of
// everyday_drafts.h, program_drafts.h and sharded_drafts.h.
std::optional<Draft> HealthyDraft(std::string_view name, const Recordings& recordings);

// `kernel` with another time for the same work.
void Retime(const PlannedRun& run, double time_ns, RecordedKernel* kernel);

bool IsMatrix(const RecordedKernel& kernel);
bool IsAttention(const RecordedKernel& kernel);
bool IsElementwise(const RecordedKernel& kernel);
bool IsNormalization(const RecordedKernel& kernel);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_DRAFTS_H_
