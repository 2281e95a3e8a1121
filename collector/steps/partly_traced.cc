#include "collector/steps/partly_traced.h"

#include <algorithm>
#include <cstddef>

namespace utlz {
namespace {

// Each pause of tracing lies between a part of the step before it and a part of the step after it.
// Both were traced, and are less than two steps. They tell nothing of the steps in the pause.
constexpr double kFewestTracedSteps = 2;
// In a stretch of steps windows see about one step begin for each step's worth of operations that
// they record. Less than this share of that is no stretch of steps.
constexpr double kBegun = 0.5;

// Steps cut[first] to cut[end - 1].
struct Run {
  size_t first = 0;
  size_t end = 0;
};

// Divides `cut` at each whole step. What comes before the first whole step is left out.
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

// StepStarts drops beginnings of steps once there are very many. Then steps do not follow closely.
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

// Until when a step was traced from its begin on.
uint64_t TracedUntilNs(const ActivityTotals& ledger, const Step& step) {
  uint64_t traced_ns = step.start_ns;
  uint64_t untraced_ns = step.end_ns;
  while (untraced_ns - traced_ns > 1) {
    const uint64_t middle_ns = traced_ns + (untraced_ns - traced_ns) / 2;
    const bool traced = ledger.Between(step.start_ns, middle_ns).UntracedNs() < 1;
    (traced ? traced_ns : untraced_ns) = middle_ns;
  }
  return traced_ns;
}

// What the first pause left of the step that it cut stands for itself: windows come later, and may
// show steps of another length. Returns its end.
uint64_t AddBeginOfCutStep(const WholeSteps& whole, const Step& cut,
                           std::vector<PartlyTraced>* stretches) {
  const uint64_t end_ns = TracedUntilNs(whole.ledger, cut);
  const PartlyTraced stretch = Between(whole, cut.start_ns, end_ns);
  if (stretch.traced_steps <= 0) return cut.start_ns;
  stretches->push_back(stretch);
  return end_ns;
}

// Divides the run into the shortest stretches that tell enough: windows come more densely in some
// parts of a run than in others, and each stretch stands for its own untraced steps.
void AddStretches(const WholeSteps& whole, const std::vector<Step>& cut, const Run& run,
                  bool first_pause, std::vector<PartlyTraced>* stretches) {
  const uint64_t run_end_ns = cut[run.end - 1].end_ns;
  // Later windows begin and end anywhere in a step. Were the parts that follow a whole step left
  // out, those at the ends of steps would stand for the pauses alone.
  uint64_t start_ns =
      first_pause ? AddBeginOfCutStep(whole, cut[run.first], stretches) : cut[run.first].start_ns;
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
  bool first_pause = true;
  for (const Run& run : RunsOf(whole.steps, cut)) {
    const PartlyTraced all = Between(whole, cut[run.first].start_ns, cut[run.end - 1].end_ns);
    if (AreSteps(all, cut, run)) AddStretches(whole, cut, run, first_pause, &stretches);
    first_pause = false;
  }
  return stretches;
}

}  // namespace utlz
