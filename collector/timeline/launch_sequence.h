// Launches in order, in the stretches in which nothing that ran went unrecorded: between two trace
// windows anything may have run, so that nothing is known of what comes back after how many.
#ifndef UTLZ_COLLECTOR_TIMELINE_LAUNCH_SEQUENCE_H_
#define UTLZ_COLLECTOR_TIMELINE_LAUNCH_SEQUENCE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace utlz {

// Every launch of a kernel, or every one of it after a launch of `kernel_before`.
struct LaunchMark {
  uint32_t kernel = 0;
  std::optional<uint32_t> kernel_before = std::nullopt;
  auto operator<=>(const LaunchMark&) const = default;
};

class LaunchSequence {
 public:
  // `begins_stretch`: something went unrecorded before it.
  void Add(const LaunchMark& mark, bool begins_stretch) {
    if (begins_stretch || stretches_.empty()) stretches_.push_back(0);
    ++stretches_.back();
    marks_.push_back(mark);
    stretch_of_.push_back(stretches_.size() - 1);
  }

  const std::vector<LaunchMark>& marks() const { return marks_; }
  size_t size() const { return marks_.size(); }
  bool InOneStretch(size_t a, size_t b) const { return stretch_of_[a] == stretch_of_[b]; }
  // Launches of each stretch.
  const std::vector<size_t>& stretches() const { return stretches_; }
  // Launches of the stretch that a launch is in.
  size_t StretchAround(size_t launch) const { return stretches_[stretch_of_[launch]]; }

 private:
  std::vector<LaunchMark> marks_;
  std::vector<size_t> stretch_of_;  // by launch
  std::vector<size_t> stretches_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_LAUNCH_SEQUENCE_H_
