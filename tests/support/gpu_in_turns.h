// A GPU on which two programs run in turns, as time slices make them: a kernel that is interrupted
// looks as long as its own work and the other program's turn. What each program does is known, and
// so is what samples of the whole GPU count. For tests.
#ifndef UTLZ_TESTS_SUPPORT_GPU_IN_TURNS_H_
#define UTLZ_TESTS_SUPPORT_GPU_IN_TURNS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "collector/decode/launch_decoder.h"
#include "tests/support/run_builder.h"

namespace utlz {

// Each nanosecond that it runs: bytes, and the share of the tensor cores' cycles.
struct WorkRate {
  double read_bytes = 0;
  double write_bytes = 0;
  double tensor = 0;
};

struct KernelInTurns {
  std::string name;
  double time_ns = 0;  // while nobody interrupts it
  WorkRate rate = {};
};

class GpuInTurns {
 public:
  static constexpr size_t kPrograms = 2;
  static constexpr uint64_t kCellNs = 1000;

  // What the GPU did, of both programs, in one cell.
  struct Cell {
    WorkRate work = {};  // summed over the nanoseconds
    double active_ns = 0;
  };

  // Each repeats its kernels, `gap_ns` apart, for as long as it has the GPU: the first for 3 to 5
  // ms a turn, the second for `second_share` of the time.
  GpuInTurns(const std::array<std::vector<KernelInTurns>, kPrograms>& kernels, double gap_ns,
             double second_share, uint64_t length_ns)
      : cells_(length_ns / kCellNs + 1) {
    DealTurns(second_share, static_cast<double>(length_ns));
    for (size_t program = 0; program < kPrograms; ++program) {
      RunKernels(kernels[program], gap_ns, program);
    }
  }

  // In order of time, as CUPTI records them.
  const std::vector<Launch>& LaunchesOf(size_t program) const { return launches_[program]; }
  const std::vector<Cell>& cells() const { return cells_; }

  // Of one program, in launches that start in [from, to).
  WorkRate WorkOf(size_t program, uint64_t from_ns, uint64_t to_ns) const {
    WorkRate sum;
    for (size_t i = 0; i < launches_[program].size(); ++i) {
      const uint64_t start_ns = launches_[program][i].start_ns - kRunStartNs;
      if (start_ns >= from_ns && start_ns < to_ns) Add(work_[program][i], 1, &sum);
    }
    return sum;
  }

  static void Add(const WorkRate& rate, double times, WorkRate* sum) {
    sum->read_bytes += times * rate.read_bytes;
    sum->write_bytes += times * rate.write_bytes;
    sum->tensor += times * rate.tensor;
  }

 private:
  struct Turn {
    double own_ns;   // of the program's own time, when it begins
    double time_ns;  // of the GPU's
  };

  void DealTurns(double second_share, double length_ns) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> turn(3e6, 5e6);
    double time_ns = 0;
    while (time_ns < length_ns) {
      const double first_ns = turn(random);
      const std::array<double, kPrograms> turns_ns = {first_ns,
                                                      first_ns * second_share / (1 - second_share)};
      for (size_t program = 0; program < kPrograms; ++program) {
        turns_[program].push_back({own_ns_[program], time_ns});
        time_ns = std::min(length_ns, time_ns + turns_ns[program]);
        own_ns_[program] += time_ns - turns_[program].back().time_ns;
      }
    }
  }

  // When the program has had so much time; at a border the end of a turn, or the next one's begin.
  double TimeOf(size_t program, double own_ns, bool ends) const {
    const auto& turns = turns_[program];
    const auto after = std::partition_point(turns.begin(), turns.end(), [&](const Turn& turn) {
      return ends ? turn.own_ns < own_ns : turn.own_ns <= own_ns;
    });
    const Turn& turn = after == turns.begin() ? *after : *std::prev(after);
    return turn.time_ns + (own_ns - turn.own_ns);
  }

  void RunKernels(const std::vector<KernelInTurns>& kernels, double gap_ns, size_t program) {
    double own_ns = 0;
    for (uint32_t i = 0;; i = (i + 1) % static_cast<uint32_t>(kernels.size())) {
      const double end_ns = own_ns + kernels[i].time_ns;
      if (end_ns > own_ns_[program]) return;
      const auto start = static_cast<uint64_t>(TimeOf(program, own_ns, false));
      const auto end = static_cast<uint64_t>(TimeOf(program, end_ns, true));
      launches_[program].push_back(RunBuilder::LaunchAt(start, end - start, i));
      WorkRate work;
      Add(kernels[i].rate, kernels[i].time_ns, &work);
      work_[program].push_back(work);
      Fill(program, own_ns, end_ns, kernels[i].rate);
      own_ns = end_ns + gap_ns;
    }
  }

  void Fill(size_t program, double own_ns, double end_ns, const WorkRate& rate) {
    while (own_ns < end_ns) {
      const double time_ns = TimeOf(program, own_ns, false);
      Cell& cell = cells_[static_cast<size_t>(time_ns) / kCellNs];
      const double piece_ns = std::min(end_ns - own_ns, 500.0);
      Add(rate, piece_ns, &cell.work);
      cell.active_ns += piece_ns;
      own_ns += piece_ns;
    }
  }

  std::array<std::vector<Turn>, kPrograms> turns_;
  std::array<double, kPrograms> own_ns_ = {};
  std::array<std::vector<Launch>, kPrograms> launches_;
  std::array<std::vector<WorkRate>, kPrograms> work_;  // of each launch
  std::vector<Cell> cells_;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_GPU_IN_TURNS_H_
