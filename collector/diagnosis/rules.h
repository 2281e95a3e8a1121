// The rules of the diagnosis: what each looks for in the facts, from which share of the time on it
// speaks up, and what it says. What a rule observes is one function, in a file by topic.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_RULES_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_RULES_H_

#include <span>
#include <string>

#include "collector/diagnosis/finding_facts.h"

namespace utlz {

struct Observation {
  double lost_ns = 0;  // what the pattern costs
  double gain_ns = 0;  // what could be had back of it, at most
  std::string evidence;
  double gain_error_ns = 0;
  bool remark = false;  // no fault, however much it is: comes after the faults
  // Instead of the rule's, where what was seen asks for something else.
  const char* advice = nullptr;
  const char* type_this = nullptr;
};

struct Rule {
  const char* name;
  double threshold;  // of the steady part: from this loss on it is a finding of its own
  Observation (*observe)(const FindingFacts&);
  const char* title;
  const char* title_short;  // at most 60 characters
  const char* advice;
  const char* type_this;         // "PyTorch's line  # JAX: JAX's line", or one for all
  bool ends_the_run = false;     // sooner or later: worth more than any time
  bool beyond_roofline = false;  // it takes work away, which no roofline counts as lost
};

std::span<const Rule> Rules();

// "12.3 % of the time" of the steady part.
std::string ShareOfTime(double time_ns, const FindingFacts& facts);

// gap_rules.cc
// Whether the program learns nothing, and stands idle between an answer and the next input for
// times that differ as those between requests do.
bool WaitsForRequests(const FindingFacts& facts);
// Of long gaps where nothing tells what they wait for: without steps, or between an answer and the
// next input, a server's requests or the host.
double UnexplainedIdleNs(const FindingFacts& facts);
// A copy to the host and the GPU's idle time after it are one loss, which one rule reports: the
// rule of read-backs where the idle time is longer, else the rule of that kind of copies. A rule of
// copies adds this to the time that no kernel ran beside its copies. It is the idle time after
// `read_back_ns` of them, or, where the rule of read-backs has both, -`read_back_ns`.
double ReadBackBesideCopiesNs(const FindingFacts& facts, double read_back_ns);
Observation ObserveLaunchGaps(const FindingFacts& facts);
Observation ObserveReadbacks(const FindingFacts& facts);
Observation ObserveLateInput(const FindingFacts& facts);
Observation ObserveGapsBetweenSteps(const FindingFacts& facts);
Observation ObserveFirstCalls(const FindingFacts& facts);
Observation ObserveHostWork(const FindingFacts& facts);

// run_rules.cc
Observation ObserveLeak(const FindingFacts& facts);
Observation ObserveLaggingRank(const FindingFacts& facts);
Observation ObserveUnevenBatches(const FindingFacts& facts);
Observation ObserveExposedCommunication(const FindingFacts& facts);
Observation ObservePageableCopies(const FindingFacts& facts);
Observation ObserveExposedCopies(const FindingFacts& facts);
Observation ObservePeerCopies(const FindingFacts& facts);
Observation ObserveHeat(const FindingFacts& facts);

// kernel_rules.cc
Observation ObserveSmallBatch(const FindingFacts& facts);
Observation ObserveSlowNormalization(const FindingFacts& facts);
Observation ObserveSlowPooling(const FindingFacts& facts);
Observation ObserveSlowMatrix(const FindingFacts& facts);
Observation ObserveSlowStreaming(const FindingFacts& facts);
Observation ObserveOneSlowKernel(const FindingFacts& facts);
Observation ObserveLatency(const FindingFacts& facts);
Observation ObserveElementwise(const FindingFacts& facts);
Observation ObserveEagerBesideCompiled(const FindingFacts& facts);
Observation ObserveWeights(const FindingFacts& facts);
Observation ObserveProductsInAndOut(const FindingFacts& facts);
Observation ObservePaddedTiles(const FindingFacts& facts);
Observation ObservePadding(const FindingFacts& facts);
Observation ObserveSinglePrecision(const FindingFacts& facts);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_RULES_H_
