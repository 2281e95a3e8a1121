#include "collector/steps/partly_traced.h"

#include <algorithm>
#include <cstddef>

namespace utlz {
namespace {

// Beside a pause of tracing parts of the step before and of the step after it are traced: less than
// two steps in all, which tell nothing of those between them.
constexpr double kFewestTracedSteps = 2;
// Of the steps that were traced in part so many were seen to begin, at least.
constexpr double kBegun = 0.5;

// Steps cut[first] to cut[end - 1].
struct Run {
  size_t first = 0;
  size_t end = 0;
};

// `cut` in runs that no whole step divides.
std::vector<Run> RunsOf(const std::vector<Step>& whole, const std::vector<Step>& cut) {
  std::vector<Run> runs;
  auto next = whole.begin();
  bool divided = true;
  for (size_t i = 0; i < cut.size(); ++i) {
    for (; next != whole.end() && next->start_ns < cut[i].start_ns; ++next) divided = true;
    if (next == whole.begin()) continue;
    if (divided) runs.push_back({.first = i, .end = i});
    runs.back().end = i + 1;
    divided = false;
  }
  return runs;
}

// Of a run that is long beyond measure, not all beginnings are kept (StepStarts).
bool KeepsAllBeginnings(const std::vector<Step>& cut, const Run& run) {
  for (size_t i = run.first + 1; i < run.end; ++i) {
    if (cut[i].start_ns > cut[i - 1].end_ns) return false;
  }
  return true;
}

PartlyTraced Between(const WholeSteps& whole, uint64_t start_ns, uint64_t end_ns) {
  PartlyTraced stretch{
      .start_ns = start_ns, .end_ns = end_ns, .content = whole.ledger.Between(start_ns, end_ns)};
  stretch.traced_steps = stretch.content.operations / whole.operations;
  stretch.steps = whole.axis.Between(start_ns, end_ns).value_or(0) / whole.operations;
  return stretch;
}

bool TellsEnough(const PartlyTraced& stretch) {
  return stretch.traced_steps >= kFewestTracedSteps && stretch.steps >= stretch.traced_steps &&
         stretch.TracedNs() > 0;
}

bool AreSteps(const PartlyTraced& all, const std::vector<Step>& cut, const Run& run) {
  if (!TellsEnough(all)) return false;
  const auto begun = static_cast<double>(run.end - run.first);
  return begun >= kBegun * all.traced_steps || !KeepsAllBeginnings(cut, run);
}

// Short stretches: each stands for what was launched around it, as sparsely as it was traced.
void AddStretches(const WholeSteps& whole, const std::vector<Step>& cut, const Run& run,
                  std::vector<PartlyTraced>* stretches) {
  const uint64_t run_end_ns = cut[run.end - 1].end_ns;
  uint64_t start_ns = cut[run.first].start_ns;
  const size_t before = stretches->size();
  for (size_t i = run.first; i < run.end; ++i) {
    const uint64_t end_ns = i + 1 < run.end ? cut[i + 1].start_ns : run_end_ns;
    const PartlyTraced stretch = Between(whole, start_ns, end_ns);
    if (!TellsEnough(stretch)) continue;
    stretches->push_back(stretch);
    start_ns = end_ns;
  }
  if (start_ns == run_end_ns) return;
  // What is left belongs to the last one.
  if (stretches->size() > before) {
    start_ns = stretches->back().start_ns;
    stretches->pop_back();
  }
  stretches->push_back(Between(whole, start_ns, run_end_ns));
}

}  // namespace

std::vector<PartlyTraced> FindPartlyTraced(const WholeSteps& whole, const std::vector<Step>& cut) {
  std::vector<PartlyTraced> stretches;
  if (whole.operations <= 0) return stretches;
  for (const Run& run : RunsOf(whole.steps, cut)) {
    const PartlyTraced all = Between(whole, cut[run.first].start_ns, cut[run.end - 1].end_ns);
    if (AreSteps(all, cut, run)) AddStretches(whole, cut, run, &stretches);
  }
  return stretches;
}

}  // namespace utlz
