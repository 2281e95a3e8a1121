#include "collector/kernel_code/flop_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "collector/kernel_code/kernel_code.h"
#include "collector/kernel_code/linear_program.h"
#include "collector/normal_interval.h"
#include "collector/warp_threads.h"

namespace utlz {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint32_t kComparedCapability = 90;
// Counters have 64 bits.
constexpr double kMostCounted = 0x1p64;
// Beside the counts' own errors, for rounding.
constexpr double kRounding = 1e-6;
constexpr size_t kMostSuccessors = 2;
constexpr size_t kMostOpenings = 20;

constexpr double kMostFp32Flops = 2;  // of an instruction that is not known
constexpr double kMostHalfFlops = 4;

bool IsPlace(const KernelCode& code, uint32_t block) { return block < code.blocks.size(); }

bool IsWhole(const KernelCode& code, const CodeBlock& block) {
  if (block.successors.empty() || block.successors.size() > kMostSuccessors) return false;
  for (const uint32_t next : block.successors) {
    if (next != kThreadEnds && !IsPlace(code, next)) return false;
  }
  if (block.callee != kCallsNothing && !IsPlace(code, block.callee)) return false;
  if (block.joined_since.size() > kMostOpenings) return false;
  for (const uint32_t opening : block.joined_since) {
    if (!IsPlace(code, opening)) return false;
  }
  for (const CodeChoice& choice : block.choices) {
    const bool known = choice.way_out == WayOut::kEither ||
                       choice.way_out == WayOut::kFirstIfHeld ||
                       choice.way_out == WayOut::kFirstIfNot;
    if (!known) return false;
    if (choice.way_out != WayOut::kEither && block.successors.size() != 2) return false;
  }
  return true;
}

// Code may come out of a file that anyone wrote.
bool IsWhole(const KernelCode& code) {
  if (code.blocks.empty() || code.blocks.size() > kMostCodeBlocks) return false;
  size_t choices = 0;
  for (const CodeBlock& block : code.blocks) {
    choices += block.choices.size();
    if (!IsWhole(code, block)) return false;
  }
  return choices <= kMostCodeChoices;
}

struct Range {
  double least = 0;
  double most = 0;
};

// A count by what is known of the instructions: the pipe that is counted for sure, and of what
// counters there may be more than of it.
using Count = uint32_t InstructionCounts::*;

enum class Counting {
  kWhole,  // all instructions of the pipe and no others
  kSome,   // any part of them
};

// The variables of a linear program, all of them averages over the threads of the launch:
// - how often a thread goes each way out of each block,
// - on how many choices of one sort it comes out on each side,
// - 32 times how often warps go through each block, and leave it where lanes join.
class LaunchProgram {
 public:
  explicit LaunchProgram(const KernelCode& code) : code_(code) {
    for (const CodeBlock& block : code.blocks) {
      first_way_.push_back(of_threads_.size());
      // Who goes any way out of the block has done what is always done.
      of_threads_.insert(of_threads_.end(), block.successors.size(), block.always);
    }
    for (uint32_t block = 0; block < code.blocks.size(); ++block) AddChoices(block);
    AddConservation();
  }

  // Is wanted for counters of warps: these are bounds of it.
  void AddWarps(double warps_a_thread) {
    first_warp_ = of_threads_.size();
    for (uint32_t block = 0; block < code_.blocks.size(); ++block) {
      of_warps_.push_back(code_.blocks[block].always);
      for (const CodeChoice& choice : code_.blocks[block].choices) {
        of_warps_.back() += choice.held;
        of_warps_.back() += choice.not_held;
      }
      // A warp is at most 32 threads.
      LinearRow lanes = RowOfThreads(block, -1);
      lanes.terms.push_back({first_warp_ + block, 1});
      lanes.most = kInfinity;
      rows_.push_back(std::move(lanes));
    }
    for (uint32_t block = 0; block < code_.blocks.size(); ++block) AddJoin(block);
    LimitWarps(warps_a_thread);
  }

  void AddThreadCounter(Count pipe, Counting counting, const Range& range) {
    AddCounter(of_threads_, 0, pipe, counting, range);
  }
  void AddWarpCounter(Count pipe, Counting counting, const Range& range) {
    AddCounter(of_warps_, first_warp_, pipe, counting, range);
  }

  size_t variables() const { return of_threads_.size() + of_warps_.size(); }
  const std::vector<InstructionCounts>& of_threads() const { return of_threads_; }
  const std::vector<LinearRow>& rows() const { return rows_; }

 private:
  size_t WaysOf(uint32_t block) const { return code_.blocks[block].successors.size(); }

  void AddChoices(uint32_t block) {
    // Choices of one sort are one pair of variables.
    std::vector<std::pair<CodeChoice, int>> sorts;
    for (const CodeChoice& choice : code_.blocks[block].choices) {
      if (choice.way_out != WayOut::kEither) {
        AddToWays(block, choice);
        continue;
      }
      const auto same = std::find_if(sorts.begin(), sorts.end(),
                                     [&](const auto& sort) { return sort.first == choice; });
      if (same != sorts.end()) {
        ++same->second;
      } else {
        sorts.emplace_back(choice, 1);
      }
    }
    for (const auto& [choice, times] : sorts) AddChoice(block, choice, times);
  }

  // The way out shows how the choice fell.
  void AddToWays(uint32_t block, const CodeChoice& choice) {
    const size_t first = first_way_[block];
    const bool first_if_held = choice.way_out == WayOut::kFirstIfHeld;
    of_threads_[first] += first_if_held ? choice.held : choice.not_held;
    of_threads_[first + 1] += first_if_held ? choice.not_held : choice.held;
  }

  // Each thread comes out on one side.
  void AddChoice(uint32_t block, const CodeChoice& choice, int times) {
    LinearRow row = RowOfThreads(block, -times);
    for (const InstructionCounts& counts : {choice.held, choice.not_held}) {
      row.terms.push_back({of_threads_.size(), 1});
      of_threads_.push_back(counts);
    }
    rows_.push_back(std::move(row));
  }

  // `times` the threads that go through the block.
  LinearRow RowOfThreads(uint32_t block, double times) const {
    LinearRow row;
    for (size_t way = 0; way < WaysOf(block); ++way) {
      row.terms.push_back({first_way_[block] + way, times});
    }
    return row;
  }

  // As many threads leave a block as come in.
  void AddConservation() {
    std::vector<LinearRow> rows;
    for (uint32_t block = 0; block < code_.blocks.size(); ++block) {
      rows.push_back(RowOfThreads(block, 1));
    }
    rows[0].least = rows[0].most = 1;
    for (uint32_t block = 0; block < code_.blocks.size(); ++block) {
      const CodeBlock& from = code_.blocks[block];
      for (size_t way = 0; way < WaysOf(block); ++way) {
        const LinearTerm enters{first_way_[block] + way, -1};
        if (from.successors[way] != kThreadEnds) {
          rows[from.successors[way]].terms.push_back(enters);
        }
        if (from.callee != kCallsNothing) rows[from.callee].terms.push_back(enters);
      }
    }
    for (LinearRow& row : rows) rows_.push_back(std::move(row));
  }

  // Lanes that part in a region leave it together.
  void AddJoin(uint32_t block) {
    leaves_.push_back(first_warp_ + block);
    if (code_.blocks[block].joined_since.empty()) return;
    leaves_.back() = first_warp_ + of_warps_.size();
    of_warps_.push_back({});
    LinearRow since{{{leaves_.back(), 1}}, -kInfinity, 0};
    for (const uint32_t opening : code_.blocks[block].joined_since) {
      since.terms.push_back({first_warp_ + opening, -1});
    }
    rows_.push_back(std::move(since));
    rows_.push_back({{{leaves_.back(), 1}, {first_warp_ + block, -1}}, -kInfinity, 0});
  }

  // A warp that goes through a block comes out of one before it, at most once each way. Of calls
  // nothing tells in how many parts a warp comes back.
  void LimitWarps(double warps_a_thread) {
    std::vector<LinearRow> rows(code_.blocks.size());
    for (uint32_t block = 0; block < code_.blocks.size(); ++block) {
      rows[block] = {{{first_warp_ + block, 1}}, -kInfinity, 0};
    }
    rows[0].most = warps_a_thread;
    for (uint32_t block = 0; block < code_.blocks.size(); ++block) {
      const CodeBlock& from = code_.blocks[block];
      const LinearTerm enters{leaves_[block], -1};
      for (const uint32_t next : from.successors) {
        if (next == kThreadEnds) continue;
        rows[next].terms.push_back(enters);
        if (from.callee != kCallsNothing) rows[next].most = kInfinity;
      }
      if (from.callee != kCallsNothing) {
        rows[from.callee].terms.push_back({first_warp_ + block, -1});
      }
    }
    for (LinearRow& row : rows) {
      if (std::isfinite(row.most)) rows_.push_back(std::move(row));
    }
  }

  // What was counted lies between the instructions that are counted for sure, and these with all
  // that may be counted.
  void AddCounter(const std::vector<InstructionCounts>& counts, size_t first_variable, Count pipe,
                  Counting counting, const Range& range) {
    LinearRow sure{{}, -kInfinity, range.most};
    LinearRow possible{{}, range.least, kInfinity};
    for (size_t index = 0; index < counts.size(); ++index) {
      const double counted = counts[index].*pipe;
      const double any = pipe == &InstructionCounts::all ? 0 : counts[index].any_pipe;
      if (counted > 0) sure.terms.push_back({first_variable + index, counted});
      if (counted + any > 0) possible.terms.push_back({first_variable + index, counted + any});
    }
    if (counting == Counting::kWhole) rows_.push_back(std::move(sure));
    if (range.least > 0) rows_.push_back(std::move(possible));
  }

  const KernelCode& code_;
  std::vector<size_t> first_way_ = {};  // by block
  size_t first_warp_ = 0;
  std::vector<InstructionCounts> of_threads_ = {};  // by variable
  std::vector<InstructionCounts> of_warps_ = {};    // by variable from first_warp_ on
  std::vector<size_t> leaves_ = {};                 // by block: the variable of warps that leave it
  std::vector<LinearRow> rows_ = {};
};

struct Counter {
  std::optional<CountedInstructions> CountedLaunch::*counted;
  Count pipe;
  Counting counting;
};

constexpr Counter kWarpCounters[] = {
    {&CountedLaunch::warp_fma, &InstructionCounts::fma, Counting::kWhole},
    {&CountedLaunch::warp_fma_lite, &InstructionCounts::fp32, Counting::kSome},
    {&CountedLaunch::warp_alu, &InstructionCounts::alu, Counting::kWhole},
    {&CountedLaunch::warp_xu, &InstructionCounts::xu, Counting::kWhole},
    {&CountedLaunch::warp_all, &InstructionCounts::all, Counting::kWhole},
};

constexpr Counter kThreadCounters[] = {
    {&CountedLaunch::thread_fma, &InstructionCounts::fma, Counting::kWhole},
    {&CountedLaunch::thread_fma_lite, &InstructionCounts::fp32, Counting::kSome},
    {&CountedLaunch::thread_alu, &InstructionCounts::alu, Counting::kWhole},
    {&CountedLaunch::thread_xu, &InstructionCounts::xu, Counting::kWhole},
    {&CountedLaunch::thread_lsu, &InstructionCounts::lsu, Counting::kWhole},
    {&CountedLaunch::thread_all, &InstructionCounts::all, Counting::kWhole},
};

bool IsUsable(const CountedInstructions& counted) {
  return counted.a_launch >= 0 && counted.a_launch <= kMostCounted && counted.error >= 0 &&
         counted.error <= kMostCounted;
}

// `unit` is how much of it makes one a thread.
Range RangeOf(const CountedInstructions& counted, double unit) {
  const double error = kNormal95 * counted.error + kRounding * (counted.a_launch + unit);
  return {std::max(0.0, counted.a_launch - error) / unit, (counted.a_launch + error) / unit};
}

bool AddCounters(const CountedLaunch& counted, LaunchProgram* program) {
  bool warps = false;
  for (const Counter& counter : kWarpCounters) warps |= (counted.*counter.counted).has_value();
  if (warps) program->AddWarps(counted.warps * kWarpThreads / counted.threads);
  for (const Counter& counter : kWarpCounters) {
    const std::optional<CountedInstructions>& value = counted.*counter.counted;
    if (!value.has_value()) continue;
    if (!IsUsable(*value)) return false;
    program->AddWarpCounter(counter.pipe, counter.counting,
                            RangeOf(*value, counted.threads / kWarpThreads));
  }
  for (const Counter& counter : kThreadCounters) {
    const std::optional<CountedInstructions>& value = counted.*counter.counted;
    if (!value.has_value()) continue;
    if (!IsUsable(*value)) return false;
    program->AddThreadCounter(counter.pipe, counter.counting, RangeOf(*value, counted.threads));
  }
  return true;
}

std::vector<double> CostsOf(const LaunchProgram& program, Count flops, double of_unknown,
                            double sign) {
  std::vector<double> costs(program.variables(), 0);
  for (size_t variable = 0; variable < program.of_threads().size(); ++variable) {
    const InstructionCounts& counts = program.of_threads()[variable];
    costs[variable] = sign * (counts.*flops + of_unknown * counts.unknown);
  }
  return costs;
}

bool IsPossible(const CountedLaunch& counted) {
  return std::isfinite(counted.threads) && std::isfinite(counted.warps) && counted.threads >= 1 &&
         counted.warps <= counted.threads && counted.warps * kWarpThreads >= counted.threads;
}

}  // namespace

std::optional<FlopBounds> BoundFlops(const KernelCode& code, const CountedLaunch& counted) {
  if (code.compute_capability != kComparedCapability || !IsWhole(code)) return std::nullopt;
  if (!IsPossible(counted)) return std::nullopt;
  LaunchProgram launch(code);
  if (!AddCounters(counted, &launch)) return std::nullopt;
  LinearProgram program(launch.variables(), launch.rows());
  const auto least = [&](Count flops) -> std::optional<double> {
    const std::optional<double> found = program.Minimum(CostsOf(launch, flops, 0, 1));
    if (!found.has_value()) return std::nullopt;
    return std::max(0.0, *found * (1 - kRounding)) * counted.threads;
  };
  const auto most = [&](Count flops, double of_unknown) -> std::optional<double> {
    const std::optional<double> found = program.Minimum(CostsOf(launch, flops, of_unknown, -1));
    if (!found.has_value()) return std::nullopt;
    return std::max(0.0, -*found * (1 + kRounding)) * counted.threads;
  };
  const std::optional<double> fp32_least = least(&InstructionCounts::fp32_flops);
  const std::optional<double> fp32_most = most(&InstructionCounts::fp32_flops, kMostFp32Flops);
  const std::optional<double> half_least = least(&InstructionCounts::half_flops);
  const std::optional<double> half_most = most(&InstructionCounts::half_flops, kMostHalfFlops);
  if (!fp32_least || !fp32_most || !half_least || !half_most) return std::nullopt;
  // Counts that contradict the code by less than rounding.
  if (*fp32_least > *fp32_most || *half_least > *half_most) return std::nullopt;
  return FlopBounds{*fp32_least, *fp32_most, *half_least, *half_most};
}

}  // namespace utlz
