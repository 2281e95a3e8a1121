#include "collector/diagnosis/findings.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "collector/capture_trust.h"
#include "collector/diagnosis/finding_facts.h"
#include "collector/diagnosis/finding_owners.h"
#include "collector/diagnosis/gather_facts.h"
#include "collector/diagnosis/rules.h"
#include "collector/diagnosis/verdict.h"

namespace utlz {
namespace {

// Losses of less are not listed one by one.
constexpr double kWorthListing = 0.005;
constexpr double kHoursAMonth = 730;

// The part of "PyTorch's line  # JAX: JAX's line" for the program's framework, if that is known.
std::string LineToType(std::string_view line, Framework framework) {
  constexpr std::string_view kOfJax = "  # JAX: ";
  const size_t at = line.find(kOfJax);
  if (at == std::string_view::npos || framework == Framework::kUnknown) return std::string(line);
  return std::string(framework == Framework::kJax ? line.substr(at + kOfJax.size())
                                                  : line.substr(0, at));
}

FindingSummary Describe(const Rule& rule, const Observation& observation,
                        const FindingFacts& facts) {
  FindingSummary finding;
  finding.set_rule(rule.name);
  finding.set_title(rule.title);
  finding.set_title_short(rule.title_short);
  finding.set_evidence(observation.evidence);
  finding.set_advice(observation.advice != nullptr ? observation.advice : rule.advice);
  finding.set_type_this(
      LineToType(observation.type_this != nullptr ? observation.type_this : rule.type_this,
                 facts.kernels.framework));
  const bool speaks =
      !observation.remark && observation.lost_ns >= rule.threshold * facts.window_ns;
  if (!speaks) finding.set_below_threshold(true);
  if (observation.gain_ns <= 0) return finding;
  // A gain over the whole run, as by ranks that lag, may exceed the length of the steady part.
  finding.set_gain_ns(std::min(observation.gain_ns, facts.window_ns));
  if (observation.gain_error_ns > 0) finding.set_gain_error_ns(observation.gain_error_ns);
  finding.set_gain_share(finding.gain_ns() / facts.window_ns);
  if (facts.step_ns > 0) finding.set_gain_per_step_ns(finding.gain_share() * facts.step_ns);
  return finding;
}

void SortByGain(std::vector<FindingSummary>* findings, size_t most) {
  std::stable_sort(findings->begin(), findings->end(),
                   [](const auto& a, const auto& b) { return a.gain_ns() > b.gain_ns(); });
  if (findings->size() > most) findings->resize(most);
}

// What separates the run from its rooflines beyond all findings: kernels at their usual rates,
// short gaps, losses too small to list.
FindingSummary Remaining(const std::vector<FindingSummary>& listed, double in_findings_ns,
                         const FindingFacts& facts) {
  const GapFacts& gaps = facts.gaps;
  // What tracing is supposed to have added to launches of graphs is in no loss of the program's.
  const double by_tracing_ns =
      std::min(facts.traced_graphs_ns, gaps.between_steps_ns + gaps.inside_ns);
  const double whole_ns = gaps.launch.time_ns + gaps.readback.time_ns + gaps.upload.time_ns +
                          gaps.other.time_ns + gaps.turnaround.time_ns +
                          facts.copies.pageable_exposed_ns + facts.copies.pinned_exposed_ns +
                          facts.copies.peer_exposed_ns + facts.communication.exposed_ns +
                          facts.kernels.savings_ns - by_tracing_ns;
  static constexpr Rule kRule = {
      "remaining",
      1,
      nullptr,
      "The rest is spread over short gaps and kernels near their usual rates",
      "The rest: kernels near their usual rates, short gaps",
      "nothing alone: it is what good kernels and graphs leave, and losses too small to list",
      "utlz report --sort savings PROFILE"};
  Observation rest = {.gain_ns = whole_ns - in_findings_ns,
                      .evidence =
                          "between now and all kernels at their rooflines without a pause, "
                          "in no other finding",
                      .remark = true};
  if (listed.empty() || rest.gain_ns < kWorthListing * facts.window_ns) rest.gain_ns = 0;
  FindingSummary finding = Describe(kRule, rest, facts);
  if (UnexplainedIdleNs(facts) > finding.gain_ns() / 2) {
    finding.set_title(
        "Most of the rest is idle time in gaps of more than 0.1 ms, for requests or the host");
    finding.set_title_short("The rest: long gaps, for requests or the host");
    if (WaitsForRequests(facts)) {
      finding.set_advice(
          "nothing in the program: let more requests share the GPU, or take less of it");
      finding.clear_type_this();
    } else {
      finding.set_advice("find the steps first: --step-kernel names the kernel that begins each");
      finding.set_type_this("utlz report --step-kernel NAME PROFILE");
    }
  } else if (facts.kernels.savings_ns <= 0) {
    // Nobody knows the rates of kernels that were not counted.
    finding.set_title("The rest is spread over short gaps");
    finding.set_title_short("The rest: short gaps");
  }
  return finding;
}

}  // namespace

std::vector<FindingSummary> Diagnose(const FindingFacts& facts) {
  std::vector<FindingSummary> urgent;
  std::vector<FindingSummary> findings;
  std::vector<FindingSummary> below;
  double in_findings_ns = 0;
  for (const Rule& rule : Rules()) {
    if (facts.window_ns <= 0) break;
    const Observation observation = rule.observe(facts);
    if (observation.lost_ns < kWorthListing * facts.window_ns) continue;
    FindingSummary finding = Describe(rule, observation, facts);
    if (!rule.beyond_roofline) in_findings_ns += finding.gain_ns();
    const bool is_below = finding.below_threshold();
    (rule.ends_the_run ? urgent : is_below ? below : findings).push_back(std::move(finding));
  }
  SortByGain(&findings, kMaxFindings - std::min<size_t>(kMaxFindings, urgent.size()));
  SortByGain(&below, kMaxBelow);
  findings.insert(findings.begin(), urgent.begin(), urgent.end());
  findings.insert(findings.end(), below.begin(), below.end());
  FindingSummary rest = Remaining(findings, in_findings_ns, facts);
  if (rest.gain_ns() > 0) findings.push_back(std::move(rest));
  return findings;
}

void SummarizeFindings(const RunState& state, const Analysis& analysis, Summary* summary) {
  if (const double share = MuchUnrecordedWork(*summary); share > 0) {
    summary->set_verdict(VerdictOfUnrecordedWork(share));
    return;
  }
  const FindingFacts facts = GatherFacts(state, analysis, *summary);
  const double price_per_hour = summary->efficiency().price_per_hour();
  for (FindingSummary& finding : Diagnose(facts)) {
    if (price_per_hour > 0 && finding.has_gain_share()) {
      finding.set_gain_per_month(finding.gain_share() * price_per_hour * kHoursAMonth);
    }
    *summary->add_findings() = std::move(finding);
  }
  NameOwnersInFindings(state, analysis, summary);
  summary->set_verdict(Verdict(facts));
  // Ladder and kind of problem know the time, and not what it was waited for.
  const double idle_ns = facts.window_ns * (1 - facts.busy_share);
  if (UnexplainedIdleNs(facts) > idle_ns / 2 && WaitsForRequests(facts) &&
      summary->problem() == "host-bound") {
    summary->set_problem("idle between requests");
  }
}

}  // namespace utlz
