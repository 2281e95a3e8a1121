// When the steps of a loop began, of a run however long: where there are too many, every second
// step that was kept is given up, so that those that stay lie all over the run. Thread safety:
// none.
#ifndef UTLZ_COLLECTOR_TIMELINE_STEP_STARTS_H_
#define UTLZ_COLLECTOR_TIMELINE_STEP_STARTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace utlz {

class StepStarts {
 public:
  static constexpr size_t kMost = 100'000;

  // A step begins, and the one before is over; not much out of order.
  void Add(uint64_t start_ns);
  // Gives up every second step that is kept.
  void Thin();

  size_t kept() const { return starts_.size(); }
  // Start and end of every step that is kept, in order. The last one that began is not over.
  std::vector<std::pair<uint64_t, uint64_t>> Steps() const;

 private:
  struct Start {
    uint64_t time_ns;
    uint64_t index;  // of all that were added
  };
  // Steps are kept as two starts, one after the other, of which the first has an even index.
  bool Keeps(uint64_t index) const { return stride_ == 1 || index / 2 % (stride_ / 2) == 0; }

  std::vector<Start> starts_;
  uint64_t added_ = 0;
  uint64_t stride_ = 1;  // one step in so many is kept
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_STEP_STARTS_H_
