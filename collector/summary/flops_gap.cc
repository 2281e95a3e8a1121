#include "collector/summary/flops_gap.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "collector/normal_interval.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

// Executed and model FLOPs that differ by less agree: counters and steps are no better.
constexpr double kAgreeing = 0.02;

void AddGap(const char* name, double flops, double model_flops, std::string meaning,
            EfficiencySummary* efficiency) {
  if (flops == 0) return;
  FlopsGap* gap = efficiency->add_gap();
  gap->set_name(name);
  gap->set_flops_per_step(flops);
  gap->set_share(flops / model_flops);
  gap->set_meaning(std::move(meaning));
}

std::string MeaningOfMore(const WorkloadSpec& work, bool recomputes, double model_flops) {
  std::string meaning = "FLOPs beyond the model's in other kernels: ";
  if (recomputes) meaning += "activations computed twice, ";
  meaning +=
      "channels and rows that fill up tiles, matrix products that the model's FLOPs leave out";
  if (recomputes && work.forward_flops_per_step() > 0) {
    meaning += "; computing every activation twice costs " +
               PercentText(work.forward_flops_per_step() / model_flops);
  }
  return meaning;
}

// The 95 % interval of the executed FLOPs, as a share of the model's.
double ErrorOfExecuted(const EfficiencySummary& efficiency) {
  if (!efficiency.has_hfu_error() || efficiency.hfu() <= 0) return 0;
  return kNormal95 * efficiency.hfu_error() / efficiency.hfu() *
         efficiency.executed_flops_per_step() / efficiency.model_flops_per_step();
}

std::string DescribePart(double share) {
  return share > 1 ? RatioText(share) + " ×" : PercentText(share);
}

std::string DescribeGap(const EfficiencySummary& efficiency) {
  const double more = efficiency.executed_flops_per_step() / efficiency.model_flops_per_step() - 1;
  std::string text = "executed and model FLOPs agree";
  if (std::abs(more) >= kAgreeing) {
    text = "measured FLOPs are " +
           (more > 0 ? AboveModelText(more) : PercentText(-more) + " below the model's");
    if (std::abs(more) <= ErrorOfExecuted(efficiency)) text += ", which is within their error";
  }
  std::string parts;
  for (const FlopsGap& gap : efficiency.gap()) {
    if (std::abs(gap.share()) < kAgreeing) continue;
    parts += (parts.empty() ? ": " : "; ") + gap.name();
    // One part is the whole, whose share is said already.
    if (efficiency.gap_size() > 1) parts += " " + DescribePart(gap.share());
  }
  return text + parts;
}

}  // namespace

std::string AboveModelText(double more) {
  return more > 1 ? RatioText(1 + more) + " × the model's"
                  : PercentText(more) + " above the model's";
}

void SetFlopsGap(const WorkloadSpec& work, const ExecutedFlops& executed, bool recomputes,
                 EfficiencySummary* efficiency) {
  const double model_flops = efficiency->model_flops_per_step();
  double rest = executed.all - model_flops;
  if (work.padded_tokens_per_step() > work.tokens_per_step() && work.tokens_per_step() > 0) {
    const double padding =
        model_flops * (work.padded_tokens_per_step() / work.tokens_per_step() - 1);
    rest -= padding;
    AddGap(kGapPadding, padding, model_flops,
           "tokens that are computed and mean nothing: pack sequences, sort them by length",
           efficiency);
  }
  const double attention = executed.attention - work.attention_flops_per_step();
  if (work.attention_flops_per_step() > 0 && executed.attention > 0) {
    rest -= attention;
    AddGap(kGapAttention, attention, model_flops,
           "attention kernels' FLOPs beyond the model's: scores computed again in the backward "
           "pass, blocks half masked",
           efficiency);
  }
  const double filling = std::clamp(rest, 0.0, executed.filling);
  rest -= filling;
  AddGap(kGapTiles, filling, model_flops,
         "products of fewer rows than their tiles have compute the others for nothing: batch what "
         "runs row by row",
         efficiency);
  if (rest >= 0) {
    AddGap(recomputes ? kGapMore : kGapMoreForward, rest, model_flops,
           MeaningOfMore(work, recomputes, model_flops), efficiency);
  } else {
    AddGap(kGapFewer, rest, model_flops,
           "fewer FLOPs than the model needs: its FLOPs are given too high, steps leave work out, "
           "or counters missed some",
           efficiency);
  }
  efficiency->set_gap_note(DescribeGap(*efficiency));
}

}  // namespace utlz
