#include <algorithm>
#include <string>
#include <string_view>

#include "collector/diagnosis/rules.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

// The collective that is exposed for longest.
std::string_view LongestExposed(const Summary& summary) {
  const auto& all = summary.communication();
  const auto longest = std::max_element(
      all.begin(), all.end(),
      [](const auto& left, const auto& right) { return left.exposed_ns() < right.exposed_ns(); });
  return longest == all.end() ? std::string_view() : std::string_view(longest->collective());
}

// What to do about a collective: gradients are summed up, sharded weights gathered and scattered,
// and parts of a pipeline, or experts, send to one another.
void Advise(std::string_view collective, Observation* observation) {
  if (collective == "AllGather" || collective == "ReduceScatter") {
    observation->advice =
        "gather a layer's weights while the one before computes: FSDP's prefetch in both "
        "directions, no limit on gathers under way, larger batches; shard within a host alone";
    observation->type_this =
        "FullyShardedDataParallel(model, forward_prefetch=True, limit_all_gathers=False)"
        "  # JAX: XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true";
  }
  if (collective == "SendRecv") {
    observation->advice =
        "of a pipeline: more micro-batches, or a schedule that interleaves stages, and stages that "
        "take equally long; of experts: balance their tokens, and compute beside the exchange";
    observation->type_this = "ScheduleInterleaved1F1B(stages, n_microbatches=4 * len(stages))";
  }
}

}  // namespace

// Only growth from step to step: memory may well grow until the first steps are done.
Observation ObserveLeak(const FindingFacts& facts) {
  const MemorySummary& memory = facts.summary->memory();
  if (!memory.leak_suspected()) return {};
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
  return {.lost_ns = facts.window_ns, .evidence = evidence};
}

Observation ObserveLaggingRank(const FindingFacts& facts) {
  const CommunicationFacts& communication = facts.communication;
  return {.lost_ns = communication.lagging_lost_ns,
          .gain_ns = communication.lagging_lost_ns,
          .evidence = communication.lagging_process + " comes last to " +
                      PercentText(communication.lagging_last_share) + " of the collectives, " +
                      TimeText(communication.lagging_delay_ns) + " after the last of the others"};
}

Observation ObserveUnevenBatches(const FindingFacts& facts) {
  const double lost_ns = facts.communication.uneven_ns;
  return {.lost_ns = lost_ns,
          .gain_ns = lost_ns,
          .evidence = "processes wait for each other by turns, " + ShareOfTime(lost_ns, facts) +
                      "; none of them is always the last"};
}

Observation ObserveExposedCommunication(const FindingFacts& facts) {
  const CommunicationFacts& communication = facts.communication;
  const double lost_ns = std::max(
      0.0, communication.exposed_ns - communication.lagging_lost_ns - communication.uneven_ns);
  Observation observation = {.lost_ns = lost_ns,
                             .gain_ns = lost_ns,
                             .evidence = "only communication kernels ran for " +
                                         ShareOfTime(communication.exposed_ns, facts)};
  const std::string_view collective = LongestExposed(*facts.summary);
  if (!collective.empty() && collective != "other") {
    observation.evidence += ", most of it in " + std::string(collective);
  }
  Advise(collective, &observation);
  return observation;
}

Observation ObservePageableCopies(const FindingFacts& facts) {
  const double lost_ns = facts.copies.pageable_exposed_ns +
                         ReadBackBesideCopiesNs(facts, facts.copies.pageable_read_back_ns);
  return {.lost_ns = lost_ns,
          .gain_ns = lost_ns,
          .evidence = "copies of pageable memory held the GPU up for " + TimeText(lost_ns)};
}

Observation ObserveExposedCopies(const FindingFacts& facts) {
  const double lost_ns = facts.copies.pinned_exposed_ns +
                         ReadBackBesideCopiesNs(facts, facts.copies.pinned_read_back_ns);
  return {.lost_ns = lost_ns,
          .gain_ns = lost_ns,
          .evidence = "no kernel ran beside copies for " + TimeText(lost_ns)};
}

Observation ObservePeerCopies(const FindingFacts& facts) {
  const CopyFacts& copies = facts.copies;
  const double lost_ns = copies.peer_exposed_ns + copies.peer_waited_ns;
  std::string evidence =
      "copies between GPUs ran alone " + ShareOfTime(copies.peer_exposed_ns, facts);
  if (copies.peer_waited_ns > 0) {
    evidence += "; other GPUs of the process stood idle meanwhile, " +
                ShareOfTime(copies.peer_waited_ns, facts);
  }
  return {.lost_ns = lost_ns, .gain_ns = lost_ns, .evidence = evidence};
}

Observation ObserveHeat(const FindingFacts& facts) {
  return {.lost_ns = facts.throttled_ns,
          .gain_ns = facts.throttled_ns,
          .evidence = "the driver names a thermal slowdown, and the clock was below its maximum"};
}

}  // namespace utlz
