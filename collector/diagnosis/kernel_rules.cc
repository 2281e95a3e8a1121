
#include "collector/diagnosis/rules.h"
#include "collector/summary/flops_gap.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

// A program counts as compiled if kernels that a compiler fused take this share of the time.
constexpr double kCompiledShare = 0.05;

Observation ObserveLoss(const KernelLoss& loss, const char* kernels, const char* usual,
                        const FindingFacts& facts) {
  std::string evidence = std::string(kernels) + " take " + ShareOfTime(loss.time_ns, facts);
  if (!loss.worst.empty()) {
    evidence += "; " + loss.worst + ", which loses most, reaches " +
                PercentText(loss.worst_efficiency) + " of its roof";
  }
  return {.lost_ns = loss.lost_ns, .gain_ns = loss.lost_ns, .evidence = evidence + usual};
}

bool IsCompiled(const FindingFacts& facts) {
  return facts.kernels.compiled_ns >= kCompiledShare * facts.window_ns;
}

}  // namespace

Observation ObserveSmallBatch(const FindingFacts& facts) {
  const KernelFacts& kernels = facts.kernels;
  return {.lost_ns = kernels.small_grid_ns,
          .gain_ns = kernels.small_grid_gain_ns,
          .evidence =
              "launches of so few blocks that a tenth or more of the GPU's multiprocessors "
              "have none take " +
              ShareOfTime(kernels.small_grid_ns, facts)};
}

Observation ObserveSlowNormalization(const FindingFacts& facts) {
  return ObserveLoss(facts.kernels.normalization, "normalization kernels",
                     "; kernels that stream reach 85 to 92 %", facts);
}

Observation ObserveSlowPooling(const FindingFacts& facts) {
  return ObserveLoss(facts.kernels.pooling, "pooling kernels",
                     "; kernels that stream reach 85 to 92 %", facts);
}

Observation ObserveSlowMatrix(const FindingFacts& facts) {
  return ObserveLoss(facts.kernels.matrix, "matrix products, convolutions and attention",
                     "; large products usually reach 75 to 85 %, attention 60 %", facts);
}

Observation ObserveSlowStreaming(const FindingFacts& facts) {
  return ObserveLoss(facts.kernels.streaming, "kernels that stream",
                     "; such kernels usually reach 85 to 92 %", facts);
}

Observation ObserveOneSlowKernel(const FindingFacts& facts) {
  const KernelLoss& loss = facts.kernels.one_kernel;
  return {
      .lost_ns = loss.lost_ns,
      .gain_ns = loss.lost_ns,
      .evidence = loss.worst + " reaches " + PercentText(loss.worst_efficiency) + " of its roof"};
}

Observation ObserveLatency(const FindingFacts& facts) {
  const KernelLoss& latency = facts.kernels.latency;
  std::string evidence = "kernels that use less than a quarter of either roof take " +
                         ShareOfTime(latency.time_ns, facts);
  if (facts.sm_active_share > 0) {
    evidence += "; SMs are active " + PercentText(facts.sm_active_share) +
                " of it where GPU busy says " + PercentText(facts.busy_share);
  }
  return {.lost_ns = latency.lost_ns, .gain_ns = latency.lost_ns, .evidence = evidence};
}

Observation ObserveElementwise(const FindingFacts& facts) {
  const KernelFacts& kernels = facts.kernels;
  if (IsCompiled(facts)) return {};
  return {.lost_ns = kernels.elementwise_ns,
          .gain_ns = kernels.elementwise_gain_ns,
          .evidence = "such kernels take " + ShareOfTime(kernels.elementwise_ns, facts) +
                      "; two in one read and write half as much"};
}

Observation ObserveEagerBesideCompiled(const FindingFacts& facts) {
  const KernelFacts& kernels = facts.kernels;
  if (!IsCompiled(facts)) return {};
  return {.lost_ns = kernels.elementwise_ns,
          .gain_ns = kernels.elementwise_gain_ns,
          .evidence = "a compiler fused kernels of this program, and others take " +
                      ShareOfTime(kernels.elementwise_ns, facts) + "; the longest, " +
                      kernels.longest_elementwise + ", takes " +
                      ShareOfTime(kernels.longest_elementwise_ns, facts)};
}

// Reading weights at the roof of memory is how decoding is done, not a fault: only less to read, or
// more rows for what is read, would change it.
Observation ObserveWeights(const FindingFacts& facts) {
  const double time_ns = facts.kernels.weights_ns;
  return {.lost_ns = time_ns,
          .gain_ns = time_ns / 2,
          .evidence = "products of few rows that read weights at the DRAM roof take " +
                      ShareOfTime(time_ns, facts) + "; weights of half the width would halve it",
          .remark = true};
}

// What goes in and out of a product grows with the batch. What less of it would save depends on the
// kernels beside it, so that no gain is stated.
Observation ObserveProductsInAndOut(const FindingFacts& facts) {
  const double time_ns = facts.kernels.activations_ns;
  return {.lost_ns = time_ns,
          .evidence = "products at the DRAM roof that move more than weights take " +
                      ShareOfTime(time_ns, facts) + "; a larger batch would move more",
          .remark = true};
}

// Beside products of many rows it is a fault; a load of nothing else decodes for few at once.
Observation ObservePaddedTiles(const FindingFacts& facts) {
  const KernelFacts& kernels = facts.kernels;
  if (kernels.narrow_ns <= 0) return {};
  const std::string rows = CountText(kernels.narrow_rows);
  return {.lost_ns = kernels.narrow_ns,
          .gain_ns = kernels.narrow_ns * (1 - 1 / kernels.narrow_rows),
          .evidence = "products in tiles of " + rows + " rows that only read weights take " +
                      ShareOfTime(kernels.narrow_ns, facts) + "; with one row each, " +
                      PercentText(1 - 1 / kernels.narrow_rows) +
                      " of their FLOPs are padding, and " + rows + " rows would cost the same",
          .remark = kernels.narrow_ns > kernels.wide_matrix_ns};
}

Observation ObservePadding(const FindingFacts& facts) {
  const KernelFacts& kernels = facts.kernels;
  return {.lost_ns = kernels.padding_ns,
          .gain_ns = kernels.padding_ns,
          .evidence = "executed FLOPs are " + AboveModelText(kernels.padding_share) +
                      ": tokens that mean nothing, or activations that are computed again"};
}

Observation ObserveSinglePrecision(const FindingFacts& facts) {
  const KernelFacts& kernels = facts.kernels;
  return {
      .lost_ns = kernels.single_precision_ns,
      .gain_ns = kernels.single_precision_gain_ns,
      .evidence = "FP32 matrix kernels take " + ShareOfTime(kernels.single_precision_ns, facts)};
}

}  // namespace utlz
