#include "collector/diagnosis/findings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "collector/diagnosis/finding_facts.h"
#include "collector/summary/waterfall.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

// Between kernels of a replayed graph lies about this much.
constexpr double kGraphGapNs = 1'000;
// A program that steps regularly, rather than one that serves whoever asks.
constexpr uint64_t kRegularSteps = 3;
// A GPU that is busy for less is not what the time goes to.
constexpr double kMostlyIdle = 0.5;
// Less shows as 0.0 %.
constexpr double kUnused = 0.0005;

double MeanGapNs(const GapTotal& gaps) { return gaps.gaps <= 0 ? 0 : gaps.time_ns / gaps.gaps; }

std::string CountOf(const GapTotal& gaps) { return CountText(gaps.gaps); }

struct Observation {
  std::string evidence;
  double gain_ns = 0;
};

// What a rule says when its pattern is there. `lost_ns` is what the pattern costs; the rule speaks
// when that is at least `threshold` of the steady part.
struct Rule {
  const char* name;
  const char* title;
  const char* advice;
  double threshold;
  double (*lost_ns)(const FindingFacts&);
  Observation (*observe)(const FindingFacts&);
  bool ends_the_run = false;  // sooner or later: worth more than any time
};

// Only growth from step to step: memory may well grow until the first steps are done.
Observation ObserveLeak(const FindingFacts& facts) {
  const MemorySummary& memory = facts.summary->memory();
  std::string evidence = "reserved memory grows by " +
                         PrefixedText(memory.growth_bytes_per_second(), "B") + " a second";
  if (memory.has_growth_bytes_per_step()) {
    evidence += ", " + PrefixedText(memory.growth_bytes_per_step(), "B") + " a step";
  }
  evidence += ", and goes on; " + PrefixedText(memory.headroom_bytes(), "B") + " of " +
              PrefixedText(memory.total_bytes(), "B") + " are left";
  if (memory.has_steps_to_full()) {
    evidence += ", enough for about " + RoundCountText(memory.steps_to_full()) + " steps";
  }
  return {.evidence = evidence};
}

// Gaps that no readback, no late input and no tracing explains. Without steps they may be a
// server's that waits for requests.
double HostWorkNs(const FindingFacts& facts) {
  if (facts.summary->steps().steps() < kRegularSteps) return 0;
  return std::max(0.0, facts.other_gaps.time_ns - facts.traced_graphs_ns);
}

constexpr double kSmallBatchShare = 0.25;
constexpr double kLatencyShare = 0.20;
constexpr double kSlowKernelShare = 0.15;
// Of what latency costs: more than this in one kernel is that kernel's.
constexpr double kMostOfLatency = 0.8;

// The time of one kernel is told once: under its own name where it is most of what its kind loses,
// else with its kind.
bool IsKernelOfItsOwn(const FindingFacts& facts) {
  const double lost_ns = facts.top_kernel_recoverable_ns;
  if (facts.top_kernel_efficiency >= 0.5 || lost_ns < kSlowKernelShare * facts.window_ns) {
    return false;
  }
  if (facts.top_kernel_in_small_grid) {
    return facts.small_grid_ns < kSmallBatchShare * facts.window_ns;
  }
  if (!facts.top_kernel_in_latency) return true;
  return facts.latency_recoverable_ns < kLatencyShare * facts.window_ns ||
         lost_ns > kMostOfLatency * facts.latency_recoverable_ns;
}

double LatencyLostNs(const FindingFacts& facts) {
  const bool one_kernel = facts.top_kernel_in_latency && IsKernelOfItsOwn(facts);
  return one_kernel ? 0 : facts.latency_recoverable_ns;
}

// What is left between kernels once they are launched as one graph. The host's time for a launch
// holds what tracing adds to it, which is not there to be gained.
double LaunchGainNs(const FindingFacts& facts) {
  const double kept_ns = facts.launch_gaps.gaps * (kGraphGapNs + facts.traced_launch_ns);
  return std::max(0.0, facts.launch_gaps.time_ns - kept_ns);
}

constexpr Rule kRules[] = {
    {"memory_leak", "GPU memory grows from step to step (a leak is suspected)",
     "keep no tensor that holds its graph: loss.item() or loss.detach() before summing losses up; "
     "empty lists and caches; torch.cuda.memory._record_memory_history() says who allocates",
     0.5,
     [](const FindingFacts& facts) {
       return facts.summary->memory().leak_suspected() ? facts.window_ns : 0.0;
     },
     ObserveLeak, true},
    {"lagging_rank", "One process makes the others wait",
     "look at that rank's host and GPU: clocks, other jobs, NUMA placement, its share of the data; "
     "balance sequence lengths between ranks",
     0.05, [](const FindingFacts& facts) { return facts.lagging_lost_ns; },
     [](const FindingFacts& facts) {
       return Observation{facts.lagging_process + " comes last to " +
                              PercentText(facts.lagging_last_share) + " of the collectives, " +
                              TimeText(facts.lagging_delay_ns) + " after the last of the others",
                          facts.lagging_lost_ns};
     }},
    {"small_batch", "The batch is too small to fill the GPU",
     "larger batches (or gradient accumulation over fewer, larger ones), several requests at once, "
     "several streams; or a smaller GPU, or a share of one (MIG)",
     kSmallBatchShare, [](const FindingFacts& facts) { return facts.small_grid_ns; },
     [](const FindingFacts& facts) {
       return Observation{"launches of fewer blocks than the GPU has multiprocessors take " +
                              PercentText(facts.small_grid_ns / facts.window_ns) + " of the time",
                          facts.small_grid_gain_ns};
     }},
    {"launch_bound", "The GPU waits for the host between kernels (launch-bound)",
     "CUDA graphs (torch.compile with mode=\"reduce-overhead\", torch.cuda.graph), larger batches, "
     "fused operators",
     0.15, [](const FindingFacts& facts) { return facts.launch_gaps.time_ns; },
     [](const FindingFacts& facts) {
       return Observation{
           CountOf(facts.launch_gaps) + " gaps of " + TimeText(MeanGapNs(facts.launch_gaps)) +
               " on average between kernels, " +
               PercentText(facts.launch_gaps.time_ns / facts.window_ns) + " of the time",
           LaunchGainNs(facts)};
     }},
    {"synchronization", "The program waits for results that it reads back",
     "keep values on the GPU: no .item(), .cpu() or print of a tensor in the loop; read back "
     "seldom, or with non_blocking=True and later",
     0.05, [](const FindingFacts& facts) { return facts.readback_gaps.time_ns; },
     [](const FindingFacts& facts) {
       return Observation{
           "after " + CountOf(facts.readback_gaps) + " copies to the host the GPU stood idle, " +
               PercentText(facts.readback_gaps.time_ns / facts.window_ns) + " of the time",
           facts.readback_gaps.time_ns};
     }},
    {"input_pipeline", "The input comes too late",
     "more data loader workers, prefetching, pinned memory, decoding on the GPU; check the storage",
     0.05,
     [](const FindingFacts& facts) {
       const bool regular = facts.summary->steps().steps() >= kRegularSteps;
       return facts.upload_gaps.gaps > 0 && regular ? facts.upload_gaps.time_ns : 0.0;
     },
     [](const FindingFacts& facts) {
       return Observation{"the GPU stood idle " +
                              PercentText(facts.upload_gaps.time_ns / facts.window_ns) +
                              " of the time until a copy to the device ended the wait (" +
                              CountOf(facts.upload_gaps) + " times)",
                          facts.upload_gaps.time_ns};
     }},
    {"host_work", "The host does something else in the middle of steps",
     "find what it does there (py-spy, torch.profiler with CPU activities): data preparation, "
     "logging, checkpoints, garbage collection, Python between launches",
     0.10, HostWorkNs,
     [](const FindingFacts& facts) {
       return Observation{
           "inside steps the GPU stood idle " + PercentText(HostWorkNs(facts) / facts.window_ns) +
               " of the time in gaps of more than 0.1 ms that neither a readback nor "
               "an upload explains",
           HostWorkNs(facts)};
     }},
    {"pageable_copies", "Copies use pageable host memory",
     "pin_memory=True in the data loader and non_blocking=True in .to(): pinned copies are faster "
     "and run beside kernels",
     0.03, [](const FindingFacts& facts) { return facts.pageable_exposed_ns; },
     [](const FindingFacts& facts) {
       return Observation{
           "copies of pageable memory held the GPU up for " + TimeText(facts.pageable_exposed_ns),
           facts.pageable_exposed_ns};
     }},
    {"exposed_copies", "Copies between host and device run alone",
     "copy on another stream while kernels run; copy less: keep data on the GPU, smaller types",
     0.05, [](const FindingFacts& facts) { return facts.pinned_exposed_ns; },
     [](const FindingFacts& facts) {
       return Observation{"no kernel ran beside copies for " + TimeText(facts.pinned_exposed_ns),
                          facts.pinned_exposed_ns};
     }},
    {"exposed_communication", "Communication is not hidden behind computation",
     "overlap it (bucketed all-reduce, FSDP prefetch), larger batches or gradient accumulation, "
     "faster links; look for a rank that lags",
     0.10,
     [](const FindingFacts& facts) {
       return std::max(0.0, facts.communication_exposed_ns - facts.lagging_lost_ns);
     },
     [](const FindingFacts& facts) {
       return Observation{"only communication kernels ran for " +
                              PercentText(facts.communication_exposed_ns / facts.window_ns) +
                              " of the time",
                          facts.communication_exposed_ns - facts.lagging_lost_ns};
     }},
    {"unfused_elementwise", "Element-by-element kernels move bytes to and fro",
     "fuse them: torch.compile, fused optimizers and norms, FlashAttention instead of softmax",
     0.20, [](const FindingFacts& facts) { return facts.elementwise_memory_ns; },
     [](const FindingFacts& facts) {
       // Two kernels in one read and write half as much.
       return Observation{"such kernels take " +
                              PercentText(facts.elementwise_memory_ns / facts.window_ns) +
                              " of the time",
                          facts.elementwise_memory_ns / 2};
     }},
    {"bandwidth_bound_matrix", "Matrix products are bound by reading weights, not by arithmetic",
     "larger batches share the reading; quantized weights (FP8, INT8, 4 bit) shorten it", 0.30,
     [](const FindingFacts& facts) { return facts.matrix_memory_ns; },
     [](const FindingFacts& facts) {
       // Halving the width of the weights halves what is read.
       return Observation{"matrix kernels at the DRAM roof take " +
                              PercentText(facts.matrix_memory_ns / facts.window_ns) +
                              " of the time",
                          facts.matrix_memory_ns / 2};
     }},
    {"latency_bound_kernels", "Kernels are too small to fill the GPU",
     "larger batches, fused or batched operators, several streams; or a smaller GPU", kLatencyShare,
     LatencyLostNs,
     [](const FindingFacts& facts) {
       std::string evidence = "kernels that use less than a quarter of either roof take " +
                              PercentText(facts.latency_ns / facts.window_ns) + " of the time";
       if (facts.sm_active_share > 0) {
         evidence += "; SMs are active " + PercentText(facts.sm_active_share) +
                     " of it where GPU busy says " + PercentText(facts.busy_share);
       }
       return Observation{evidence, facts.latency_recoverable_ns};
     }},
    {"single_precision", "Matrix products run in FP32 without tensor cores",
     "torch.set_float32_matmul_precision(\"high\") (TF32), or bf16 by autocast", 0.10,
     [](const FindingFacts& facts) { return facts.single_precision_ns; },
     [](const FindingFacts& facts) {
       return Observation{"FP32 matrix kernels take " +
                              PercentText(facts.single_precision_ns / facts.window_ns) +
                              " of the time",
                          facts.single_precision_gain_ns};
     }},
    {"thermal_throttling", "Heat holds the clock down",
     "check cooling, airflow and neighbours; nvidia-smi -q -d PERFORMANCE", 0.03,
     [](const FindingFacts& facts) { return facts.throttled_ns; },
     [](const FindingFacts& facts) {
       return Observation{
           "the driver names a thermal slowdown, and the clock was below its maximum",
           facts.throttled_ns};
     }},
    {"one_slow_kernel", "One kernel is far below its roof",
     "look for a better implementation or shape of this kernel (library version, alignment, "
     "layout, "
     "tile sizes)",
     kSlowKernelShare,
     [](const FindingFacts& facts) {
       return IsKernelOfItsOwn(facts) ? facts.top_kernel_recoverable_ns : 0.0;
     },
     [](const FindingFacts& facts) {
       return Observation{facts.top_kernel + " reaches " +
                              PercentText(facts.top_kernel_efficiency) + " of its roof",
                          facts.top_kernel_recoverable_ns};
     }},
};

FindingSummary Describe(const Rule& rule, const FindingFacts& facts) {
  const Observation observation = rule.observe(facts);
  FindingSummary finding;
  finding.set_rule(rule.name);
  finding.set_title(rule.title);
  finding.set_evidence(observation.evidence);
  finding.set_advice(rule.advice);
  if (observation.gain_ns <= 0) return finding;
  // What was seen in the whole run (ranks that lag) may be more than the steady part is long.
  finding.set_gain_ns(std::min(observation.gain_ns, facts.window_ns));
  finding.set_gain_share(finding.gain_ns() / facts.window_ns);
  if (facts.step_ns > 0) finding.set_gain_per_step_ns(finding.gain_share() * facts.step_ns);
  return finding;
}

// A GPU is busy for at least as long as its multiprocessors are active, if both are of one time.
constexpr double kMostOfBusy = 1.1;

// What no kernel's counters say, NVML's may say of the device.
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

// HFU leaves out what other pipes did, of which only a most is known. Where a GPU's memory is
// better used than its arithmetic, that is said too: loads that only move bytes waste no FLOPs.
std::string UseOfPeak(const FindingFacts& facts) {
  const double useful_share = facts.summary->efficiency().hfu();
  double moved_share = 0;
  for (const DeviceSummary& device : facts.summary->devices()) {
    const double weight = static_cast<double>(device.window_ns()) / facts.window_ns;
    moved_share += device.hbm_bandwidth_share() * weight;
  }
  if (facts.single_precision_ns <= kMostlyIdle * facts.window_ns) {
    const std::string moved = moved_share > useful_share
                                  ? " and moved " + PercentText(moved_share) + " of the bytes"
                                  : "";
    const std::string did = useful_share < kUnused ? "less than 0.1 %" : PercentText(useful_share);
    return " but did " + did + " of the FLOPs" + moved + " that it could";
  }
  const std::string cores = ", but its tensor cores, where nearly all of its FLOPs are to be had, ";
  return cores + (useful_share < kUnused
                      ? "stood idle"
                      : "did " + PercentText(useful_share) + " of what they could");
}

std::string Verdict(const FindingFacts& facts) {
  const Summary& summary = *facts.summary;
  if (summary.devices().empty() || facts.window_ns <= 0) return "No work of a GPU was recorded.";
  const std::string text =
      std::string(summary.window().of() == "steps" ? "In its steps the" : "The") +
      " GPU was busy " + PercentText(facts.busy_share) + " of the time" +
      (facts.counters ? UseOfPeak(facts) : WithoutCounters(facts));
  if (summary.findings_size() > 0) {
    const FindingSummary& first = summary.findings(0);
    return text + "; what costs most: " + first.title() +
           (first.has_gain_share() ? ", " + PercentText(first.gain_share()) + " of the time."
                                   : ".");
  }
  if (!facts.counters) return text + ".";
  return text + (facts.busy_share < kMostlyIdle
                     ? "; most of the time it was asked for nothing: start-up, or pauses of the "
                       "program."
                     : "; nothing stands out that would change that.");
}

}  // namespace

std::vector<FindingSummary> Diagnose(const FindingFacts& facts) {
  std::vector<FindingSummary> urgent;
  std::vector<FindingSummary> findings;
  for (const Rule& rule : kRules) {
    if (facts.window_ns <= 0 || rule.lost_ns(facts) < rule.threshold * facts.window_ns) continue;
    (rule.ends_the_run ? urgent : findings).push_back(Describe(rule, facts));
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return a.gain_ns() > b.gain_ns(); });
  findings.insert(findings.begin(), urgent.begin(), urgent.end());
  if (findings.size() > static_cast<size_t>(kMaxFindings)) findings.resize(kMaxFindings);
  return findings;
}

void SummarizeFindings(const ModelState& model, const Analysis& analysis, Summary* summary) {
  const FindingFacts facts = GatherFacts(model, analysis, *summary);
  for (FindingSummary& finding : Diagnose(facts)) *summary->add_findings() = std::move(finding);
  summary->set_verdict(Verdict(facts));
}

}  // namespace utlz
