#include <algorithm>
#include <cmath>

#include "collector/analysis/kind_of_program.h"
#include "collector/diagnosis/rules.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

// The usual gap between two kernels of a replayed graph.
constexpr double kGraphGapNs = 1'000;
// A program with fewer steps may be a server, which waits for requests.
constexpr uint64_t kRegularSteps = 3;
// Gaps whose lengths differ by less than this share of their mean count as equal.
constexpr double kEqualSpread = 0.2;

// Requests come at random. What a program does itself between an answer and its next input takes
// about as long each time.
constexpr double kFewestRequests = 10;
constexpr double kAtRandom = 0.5;  // standard deviation ÷ mean
constexpr double kMostOfReadBacks = 0.5;

bool StepsRegularly(const FindingFacts& facts) {
  return facts.summary->steps().steps() >= kRegularSteps;
}

// Of the longer part; what is less is not worth words.
constexpr double kWorthSaying = 0.02;

// The share of the long gaps that tracing is not supposed to have added, by launches of graphs.
double ShareNotTracings(const FindingFacts& facts) {
  const double long_ns = facts.gaps.between_steps_ns + facts.gaps.inside_ns;
  return long_ns > 0 ? std::max(0.0, 1 - facts.traced_graphs_ns / long_ns) : 0;
}

// What was measured of long gaps, and what is left of it where tracing is supposed to have added
// some: "22.5 % of the time (19.6 % without what tracing is supposed to have added)".
std::string MeasuredAndLeft(double measured_ns, double left_ns, const FindingFacts& facts) {
  std::string text = ShareOfTime(measured_ns, facts);
  if (measured_ns - left_ns >= kWorthSaying * measured_ns) {
    text += " (" + PercentText(left_ns / facts.window_ns) +
            " without what tracing is supposed to have added)";
  }
  return text;
}

// "235 gaps of 3.5 ms each, from loop_add_fusion_18 to loop_select_subtract_fusion"
std::string PlaceText(const GapPlace& place, bool with_before) {
  if (place.gaps <= 0) return {};
  const double mean_ns = place.time_ns / place.gaps;
  std::string text = "; " + CountText(place.gaps) + " gaps of " + TimeText(mean_ns) +
                     (place.spread_ns < kEqualSpread * mean_ns ? " each" : " on average");
  return text + (with_before ? ", from " + place.before + " to " : ", directly before ") +
         place.after;
}

// Gaps that come less often than once in so many steps are of something that few of them do.
constexpr double kStepsOfRare = 4;

double ReadBackNs(const FindingFacts& facts) {
  return facts.copies.pageable_read_back_ns + facts.copies.pinned_read_back_ns;
}

// Longer than the copies that it comes after.
bool IdleIsLonger(const FindingFacts& facts) {
  return facts.gaps.readback.time_ns >= ReadBackNs(facts);
}

// ": 8 times, 33.5 ms on average, once in 22 steps"
std::string HowOften(const GapTotal& gaps, const FindingFacts& facts) {
  if (gaps.gaps <= 0) return {};
  std::string text = ": " + CountText(gaps.gaps) + (gaps.gaps == 1 ? " time, " : " times, ") +
                     TimeText(gaps.time_ns / gaps.gaps) + (gaps.gaps == 1 ? "" : " on average");
  const double steps_each = facts.step_ns > 0 ? facts.window_ns / facts.step_ns / gaps.gaps : 0;
  if (steps_each >= kStepsOfRare)
    text += ", once in " + CountText(std::round(steps_each)) + " steps";
  return text;
}

}  // namespace

bool WaitsForRequests(const FindingFacts& facts) {
  const GapTotal& answered = facts.gaps.answered;
  if (answered.gaps < kFewestRequests || facts.kernels.learns) return false;
  // Names of XLA's fusions say nothing of backward passes and optimizers.
  if (facts.kernels.framework == Framework::kJax) return false;
  return facts.gaps.answered_spread_ns >= kAtRandom * answered.time_ns / answered.gaps &&
         answered.time_ns >= kMostOfReadBacks * facts.gaps.readback.time_ns;
}

double UnexplainedIdleNs(const FindingFacts& facts) {
  return (StepsRegularly(facts) ? 0 : facts.gaps.other.time_ns) +
         (WaitsForRequests(facts) ? facts.gaps.readback.time_ns : 0);
}

Observation ObserveLaunchGaps(const FindingFacts& facts) {
  GapTotal gaps = facts.gaps.launch;
  double lost_ns = gaps.time_ns;
  // Short gaps between kernels as short: what a graph's nodes would not have of them.
  const GapTotal& turnaround = facts.gaps.turnaround;
  const double longer_ns = turnaround.time_ns - turnaround.gaps * kGraphGapNs;
  if (longer_ns > 0) {
    gaps = {.gaps = gaps.gaps + turnaround.gaps, .time_ns = gaps.time_ns + turnaround.time_ns};
    lost_ns += longer_ns;
  }
  const double mean_ns = gaps.gaps > 0 ? gaps.time_ns / gaps.gaps : 0;
  // What tracing is supposed to have added was not measured: it makes the gain less certain.
  return {.lost_ns = lost_ns,
          .gain_ns = std::max(0.0, gaps.time_ns - gaps.gaps * kGraphGapNs),
          .evidence = CountText(gaps.gaps) + " gaps of " + TimeText(mean_ns) +
                      " on average between kernels, " + ShareOfTime(gaps.time_ns, facts),
          .gain_error_ns = std::min(gaps.time_ns, gaps.gaps * facts.traced_launch_ns)};
}

double ReadBackBesideCopiesNs(const FindingFacts& facts, double read_back_ns) {
  const double all_ns = ReadBackNs(facts);
  if (read_back_ns <= 0) return 0;
  return IdleIsLonger(facts) ? -read_back_ns : facts.gaps.readback.time_ns * read_back_ns / all_ns;
}

Observation ObserveReadbacks(const FindingFacts& facts) {
  const GapTotal& gaps = facts.gaps.readback;
  if (!IdleIsLonger(facts) || WaitsForRequests(facts)) return {};
  const double copies_ns = ReadBackNs(facts);
  std::string evidence = "after copies to the host the GPU stood idle " +
                         ShareOfTime(gaps.time_ns, facts) + HowOften(gaps, facts);
  if (copies_ns >= kWorthSaying * gaps.time_ns) {
    evidence += "; the copies took " + ShareOfTime(copies_ns, facts) + " more";
  }
  return {.lost_ns = gaps.time_ns + copies_ns,
          .gain_ns = gaps.time_ns + copies_ns,
          .evidence = evidence};
}

Observation ObserveLateInput(const FindingFacts& facts) {
  const GapTotal& gaps = facts.gaps.upload;
  // Calls that generate tokens wait for prompts, not for a data loader's batches.
  if (gaps.gaps <= 0 || !StepsRegularly(facts) || GeneratesTokens(facts.summary->steps()))
    return {};
  if (WaitsForRequests(facts)) return {};
  return {.lost_ns = gaps.time_ns,
          .gain_ns = gaps.time_ns,
          .evidence = "the GPU stood idle " + ShareOfTime(gaps.time_ns, facts) +
                      " until a copy to the device ended the wait" + HowOften(gaps, facts)};
}

Observation ObserveGapsBetweenSteps(const FindingFacts& facts) {
  const double lost_ns = facts.gaps.between_steps_ns * ShareNotTracings(facts);
  if (!StepsRegularly(facts)) return {};
  return {.lost_ns = lost_ns,
          .gain_ns = lost_ns,
          .evidence = "between one step and the next the GPU stood idle " +
                      MeasuredAndLeft(facts.gaps.between_steps_ns, lost_ns, facts) +
                      PlaceText(facts.gaps.between_steps, true)};
}

Observation ObserveFirstCalls(const FindingFacts& facts) {
  const double lost_ns = facts.gaps.first_calls_ns;
  if (!StepsRegularly(facts)) return {};
  return {.lost_ns = lost_ns,
          .gain_ns = lost_ns,
          .evidence =
              "before kernels of a shape not seen before, or early in the steps only, the "
              "GPU stood idle " +
              ShareOfTime(lost_ns, facts) + PlaceText(facts.gaps.first_calls, false)};
}

// Gaps that no readback, no late input and no tracing explains. Without steps they may be a
// server's that waits for requests.
Observation ObserveHostWork(const FindingFacts& facts) {
  if (!StepsRegularly(facts)) return {};
  const double lost_ns = facts.gaps.inside_ns * ShareNotTracings(facts);
  return {.lost_ns = lost_ns,
          .gain_ns = lost_ns,
          .evidence = "inside steps the GPU stood idle " +
                      MeasuredAndLeft(facts.gaps.inside_ns, lost_ns, facts) +
                      " in gaps of more than 0.1 ms not explained by a host/device copy" +
                      PlaceText(facts.gaps.longest_inside, false)};
}

}  // namespace utlz
