// Steps that the program itself names by NVTX ranges ("step 12", "iteration", "ProfilerStep#3").
// Bounded; thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_STEP_MARKS_H_
#define UTLZ_COLLECTOR_TIMELINE_STEP_MARKS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace utlz {

class StepMarks {
 public:
  static constexpr size_t kMaxNames = 64;
  static constexpr size_t kMostMarks = 100000;

  void Add(uint32_t source, std::string_view name, uint64_t start_ns, uint64_t end_ns);

  // Start and end of each step in order, of the most frequent name of one process; empty where no
  // name was used often enough.
  std::vector<std::pair<uint64_t, uint64_t>> Steps() const;
  // The same of this process.
  std::vector<std::pair<uint64_t, uint64_t>> StepsOf(uint32_t source) const;

 private:
  // When full, every second mark is given up: those that stay lie all over the run.
  struct Marks {
    std::vector<std::pair<uint64_t, uint64_t>> kept;
    uint64_t added = 0;
    uint64_t stride = 1;
  };

  static void ChooseMostFrequent(const Marks& marks, const Marks** most);
  static std::vector<std::pair<uint64_t, uint64_t>> InOrder(const Marks* marks);

  std::map<std::pair<uint32_t, std::string>, Marks> marks_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_STEP_MARKS_H_
