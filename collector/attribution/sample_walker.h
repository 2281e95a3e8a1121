// Walks samples and launches in time order together, and says how each sample is covered.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_SAMPLE_WALKER_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_SAMPLE_WALKER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/attribution/column_plan.h"
#include "collector/attribution/profile_shape.h"
#include "collector/attribution/recording.h"

namespace utlz::attribution {

// A launch whose samples are being processed.
struct ActiveLaunch {
  Launch launch;
  uint32_t column = 0;
  ProfileShape::Knots knots;
  std::vector<double> attributed;  // by counter
  std::vector<double> expected;    // by counter: by the fit, in samples
  std::vector<double> imputed;     // by counter: expected in holes between samples
  std::vector<double> covered_ns;  // of [start, end), by shift group
  std::vector<double> imputed_ns;  // the same in holes
};

// How one sample is covered, at the shift of one group.
struct Coverage {
  struct Piece {
    uint32_t active = 0;  // index into SampleWalker::active()
    uint32_t column = 0;
    uint32_t first_coefficient = 0;
    uint32_t count = 0;
    size_t first_value = 0;  // index into values: integrals of the hats, in microseconds
    double overlap_ns = 0;   // of the launch proper, without its tail
  };
  std::vector<Piece> pieces;
  std::vector<double> values;
  double uncovered_ns = 0;  // of the sample: no launch, nor any launch's tail
};

class SampleWalker {
 public:
  // Launches that overlap in one sample beyond this are left out, and counted.
  static constexpr size_t kMaxActive = 32;

  // Without shapes pieces have overlaps only, no values.
  enum class Detail { kOverlaps, kShapes };

  SampleWalker(size_t counters, std::vector<double> shifts_ns, Detail detail);

  void set_shifts(std::vector<double> shifts_ns) { shifts_ns_ = std::move(shifts_ns); }

  // Makes the launches of `launches` from `cursor` on that may reach `sample` active, ends those
  // that lie before it, and finds the coverage at each shift. `retired` takes the ended ones until
  // the next call.
  void MoveTo(const Sample& sample, const std::vector<Launch>& launches, size_t* cursor,
              ColumnPlan* plan);

  // Makes the rest of a stretch's launches active: they reach into the next stretch.
  void Admit(const std::vector<Launch>& launches, size_t* cursor, ColumnPlan* plan);

  std::vector<ActiveLaunch>& active() { return active_; }
  const std::vector<ActiveLaunch>& retired() const { return retired_; }
  const Coverage& coverage(size_t group) const { return coverages_[group]; }
  uint64_t crowded() const { return crowded_; }

 private:
  void Activate(const Launch& launch, ColumnPlan* plan);
  void Cover(const Sample& sample, const ColumnPlan& plan, double shift_ns, Coverage* coverage);

  size_t counters_;
  std::vector<double> shifts_ns_;
  bool with_shapes_;
  std::vector<ActiveLaunch> active_;
  std::vector<ActiveLaunch> retired_;
  std::vector<ActiveLaunch> spare_;  // keeps their vectors' memory
  std::vector<Coverage> coverages_;
  uint64_t crowded_ = 0;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_SAMPLE_WALKER_H_
