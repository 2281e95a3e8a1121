#include "collector/diagnosis/verdict.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "collector/diagnosis/rules.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

// Half of the time: a GPU that is busy for less is mostly idle.
constexpr double kMostlyIdle = 0.5;
// A smaller share shows as 0.0 %.
constexpr double kUnused = 0.0005;
// Devices whose times differ by less: the one that computes longest does so by chance.
constexpr double kAlike = 0.02;

// Multiprocessors are active while the GPU is busy. If NVML saw them active for this much longer,
// it saw work that was not traced.
constexpr double kMostOfBusy = 1.1;

// For runs without counters of kernels: what NVML says of the GPU as a whole.
std::string WithoutCounters(const FindingFacts& facts) {
  if (facts.sm_active_share <= 0) {
    return "; without counters nothing can be said about how well it was used";
  }
  if (facts.sm_active_share > kMostOfBusy * facts.busy_share) {
    return " that was traced; NVML saw " + PercentText(facts.sm_active_share) +
           " of its multiprocessors active, so that more ran than was traced";
  }
  return ", with " + PercentText(facts.sm_active_share) +
         " of its multiprocessors active; the work of kernels was not counted";
}

// HFU leaves out the FLOPs of other pipes, of which only an upper bound is known. If the GPU's
// memory is used better than its arithmetic, the sentence says so too: loads that only move bytes
// waste no FLOPs.
std::string UseOfPeak(const FindingFacts& facts) {
  const double useful_share = facts.summary->efficiency().hfu();
  double moved_share = 0;
  for (const DeviceSummary& device : facts.summary->devices()) {
    const double weight = static_cast<double>(device.steady_state_ns()) / facts.window_ns;
    moved_share += device.hbm_bandwidth_share() * weight;
  }
  if (facts.kernels.single_precision_ns <= kMostlyIdle * facts.window_ns) {
    const std::string moved = moved_share > useful_share
                                  ? " and " + PercentText(moved_share) + " of memory bandwidth"
                                  : "";
    const std::string did = useful_share < kUnused ? "less than 0.1 %" : PercentText(useful_share);
    return " but reached " + did + " of peak FLOP/s" + moved;
  }
  const std::string cores = ", but its tensor cores, where nearly all of its FLOPs are to be had, ";
  return cores + (useful_share < kUnused
                      ? "stood idle"
                      : "did " + PercentText(useful_share) + " of what they could");
}

// Of the processes that used a device, if their launcher named one: a rank that was started anew is
// the same one.
std::optional<uint32_t> RankOf(const Summary& summary, int device) {
  std::optional<uint32_t> rank;
  for (const ProcessSummary& process : summary.processes()) {
    const auto& devices = process.devices();
    if (std::find(devices.begin(), devices.end(), summary.devices(device).uuid()) ==
        devices.end()) {
      continue;
    }
    if (!process.has_rank() || process.rank() != rank.value_or(process.rank())) return std::nullopt;
    rank = process.rank();
  }
  return rank;
}

// Then people know a device by its rank: on several hosts its number says nothing.
bool HasOneRankADevice(const Summary& summary) {
  std::set<uint32_t> ranks;
  for (int i = 0; i < summary.devices_size(); ++i) {
    const auto rank = RankOf(summary, i);
    if (!rank.has_value() || !ranks.insert(*rank).second) return false;
  }
  return true;
}

// What the devices of one job compute differs where one is slower or has more to do: all wait for
// it. Communication kernels only wait.
std::string SpreadOfDevices(const FindingFacts& facts) {
  const Summary& summary = *facts.summary;
  if (facts.step_ns <= 0 || facts.compute_shares.size() < 2) return "";
  int slowest = 0;
  double most_ns = 0;
  double least_ns = std::numeric_limits<double>::infinity();
  for (int i = 0; i < summary.devices_size(); ++i) {
    if (summary.devices(i).steady_state_ns() == 0) return "";
    const double computes_ns = facts.compute_shares[static_cast<size_t>(i)] * facts.step_ns;
    if (computes_ns > most_ns) slowest = i;
    most_ns = std::max(most_ns, computes_ns);
    least_ns = std::min(least_ns, computes_ns);
  }
  if (most_ns <= 0) return "";
  const bool ranks = HasOneRankADevice(summary);
  if (most_ns - least_ns < kAlike * most_ns) {
    return " Its " + std::to_string(summary.devices_size()) + (ranks ? " ranks" : " GPUs") +
           " compute alike, " + TimeText(most_ns) + " a step.";
  }
  return " Of its " + std::to_string(summary.devices_size()) +
         (ranks ? " ranks, rank " + std::to_string(*RankOf(summary, slowest))
                : " GPUs, GPU " + std::to_string(slowest)) +
         " computes longest, " + TimeText(most_ns) + " a step; the shortest " + TimeText(least_ns) +
         " (spread " + PercentText((most_ns - least_ns) / most_ns) + ").";
}

// Whether its loss reaches its rule's threshold, and is no fault all the same.
bool IsRemark(const FindingSummary& finding) {
  const auto rule = std::find_if(Rules().begin(), Rules().end(), [&finding](const Rule& one) {
    return one.name == finding.rule();
  });
  return finding.below_threshold() && rule != Rules().end() &&
         finding.gain_share() >= rule->threshold;
}

std::string GainText(const FindingSummary& finding) {
  return finding.has_gain_share() ? ", " + PercentText(finding.gain_share()) + " of the time."
                                  : ".";
}

// Idle time that no rule explains, where it is more than what the first finding could give back.
std::string UnexplainedIdle(const FindingFacts& facts, double first_gain_ns) {
  const double idle_ns = UnexplainedIdleNs(facts);
  if (idle_ns <= first_gain_ns) return {};
  return "; " + PercentText(idle_ns / facts.window_ns) +
         " of the time it stood idle in gaps of more than 0.1 ms, for requests or the host";
}

std::string WhatToChange(const FindingFacts& facts) {
  const Summary& summary = *facts.summary;
  if (summary.findings_size() > 0) {
    const FindingSummary& first = summary.findings(0);
    const std::string idle = UnexplainedIdle(facts, first.gain_ns());
    const std::string which = idle.empty() ? "" : " beside that";
    if (!first.below_threshold()) {
      return idle + "; biggest loss" + which + ": " + first.title() + GainText(first);
    }
    if (IsRemark(first)) {
      return idle + "; no fault" + which +
             " above its threshold; what limits it: " + first.title() + GainText(first);
    }
    return idle + "; no single cause" + which +
           " above its threshold; the largest: " + first.title() + GainText(first);
  }
  if (WaitsForRequests(facts)) return UnexplainedIdle(facts, 0) + ".";
  if (!facts.counters) return ".";
  return facts.busy_share < kMostlyIdle
             ? "; most of the time it was asked for nothing: start-up, or pauses of the program."
             : "; no loss of half a percent was found.";
}

}  // namespace

std::string VerdictOfUnrecordedWork(double share) {
  return "CUPTI recorded only a part of what the GPU did: by counters, " + PercentText(share) +
         " of its work is in no record, so that nobody can say how long it stood idle, and what "
         "for.";
}

std::string Verdict(const FindingFacts& facts) {
  const Summary& summary = *facts.summary;
  if (summary.devices().empty() || facts.window_ns <= 0) return "No work of a GPU was recorded.";
  const std::string text =
      std::string(summary.steady_state().scope() == "steps" ? "In its steps the" : "The") +
      " GPU was busy " + PercentText(facts.busy_share) + " of the time" +
      (facts.counters ? UseOfPeak(facts) : WithoutCounters(facts));
  return text + WhatToChange(facts) + SpreadOfDevices(facts);
}

}  // namespace utlz
