// Finds the steps of a training or serving loop in the launches of one device.
//
// The first launches are kept and searched for a kernel that comes back after about the same number
// of launches each time. Among such kernels one with the longest period marks the step. A period
// that is only a shorter one several times over is none: every second step may pick another variant
// of a kernel. From then on only the launches of that one kernel are looked at, and of one that
// repeats within the step: a network of equal layers launches the same for each. Streaming; memory
// is bounded by the launches that are searched and by StepStarts::kMost.
//
// Where a step launches each kernel several times, none comes back so. Then a kernel after a
// certain other one is searched for. Where none comes back either, only the launches of the busiest
// stream are looked at: several streams, or processes, may interleave theirs differently each time.
//
// What comes back, and how soon, is looked at in stretches without untraced time. Windows that are
// shorter than two periods tell nothing of it but how often its mark is among their launches.
//
// Where nothing comes back after about the same number of launches, rounds of unequal length are
// searched for: a kernel that comes back after a number that differs little from its median, such
// as the verification of a varying number of proposed tokens.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_STEP_FINDER_H_
#define UTLZ_COLLECTOR_TIMELINE_STEP_FINDER_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "collector/timeline/activity.h"
#include "collector/timeline/launch_sequence.h"
#include "collector/timeline/step_content.h"
#include "collector/timeline/step_starts.h"

namespace utlz {

class StepFinder {
 public:
  static constexpr size_t kSearchLaunches = 65536;

  explicit StepFinder(size_t search_launches = kSearchLaunches)
      : search_launches_(search_launches) {}

  // Launches and untraced time in order of start.
  void Add(const Activity& activity);

  // Start and end of steps, in order; empty where the launches do not repeat.
  std::vector<std::pair<uint64_t, uint64_t>> Steps() const;

  // Start and end of calls of many steps, where their launches show one; empty elsewhere.
  std::vector<std::pair<uint64_t, uint64_t>> Calls() const;

  // The longest sequence of launches that repeats within a step and makes up most of it.
  struct Layers {
    double in_step = 0;                                // how many, in most steps
    double launches = 0;                               // of one
    std::vector<std::pair<uint64_t, uint64_t>> times;  // start and end, in order
  };
  std::optional<Layers> FindLayers() const;

  // Of the launches that are searched. Nothing where steps are part of a call, whose other parts
  // launch otherwise, or where launches are nodes of graphs.
  std::optional<StepContent> Content() const;

 private:
  // A stream of a process.
  struct Stream {
    uint32_t stream;
    uint32_t context;
    uint16_t source;
    auto operator<=>(const Stream&) const = default;
  };
  struct Launch {
    uint64_t start_ns;
    uint64_t duration_ns;
    uint32_t kernel;
    uint32_t stack;
    Stream stream;
    bool after_untraced;
    bool of_graph;
  };

  // What marks the beginnings of steps and layers.
  struct Pattern {
    LaunchMark step;
    std::optional<LaunchMark> call;
    std::optional<LaunchMark> layer;
    double layers = 0;
    double layer_launches = 0;
    std::optional<Stream> stream;  // only launches of it count
  };
  struct Starts {
    std::optional<uint32_t> last_kernel;  // kNoKernel: it is not known
    StepStarts steps;
    StepStarts calls;
    StepStarts layers;
  };

  static std::optional<Stream> BusiestStream(const std::vector<Launch>& launches);
  static LaunchSequence SequenceOf(const std::vector<Launch>& launches,
                                   const std::optional<Stream>& stream, bool with_before);
  static std::optional<Pattern> FindPattern(const LaunchSequence& launches);
  static std::optional<Pattern> FindRounds(const LaunchSequence& launches);
  using Find = std::optional<Pattern> (*)(const LaunchSequence&);
  // Of all streams, then of the busiest one; by kernels, then by pairs of them.
  std::optional<Pattern> SearchWith(Find find) const;
  std::optional<Pattern> SearchPattern() const;
  // Whether the launch begins a step.
  static bool Follow(const Pattern& pattern, const Launch& launch, Starts* starts);
  std::optional<StepContent> ContentBy(const Pattern& pattern) const;
  // Of all launches so far.
  std::optional<std::pair<Pattern, Starts>> Found() const;

  size_t search_launches_;
  std::vector<Launch> searched_;  // until the pattern is settled
  bool after_untraced_ = false;   // the next launch
  bool settled_ = false;
  std::optional<Pattern> pattern_;
  Starts starts_;
  std::optional<StepContent> content_;  // once the pattern is settled
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_STEP_FINDER_H_
