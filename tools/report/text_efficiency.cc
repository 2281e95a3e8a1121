// What the hardware, the energy and the money came to; memory; communication.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "collector/text/number_text.h"
#include "collector/text/price_text.h"
#include "collector/text/shown_text.h"
#include "collector/text/wrapped_text.h"
#include "tools/report/table.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " · ") + part;
  return text;
}

std::string DescribeShares(const EfficiencySummary& efficiency) {
  std::vector<std::string> parts;
  if (efficiency.has_mfu()) {
    std::string mfu = "MFU " + PrecisePercentText(efficiency.mfu());
    if (efficiency.has_mfu_maximum_clock()) {
      mfu += " (of the peak at the highest clock " +
             PrecisePercentText(efficiency.mfu_maximum_clock()) + ")";
    }
    parts.push_back(mfu);
  }
  if (efficiency.has_attainable_hfu()) {
    std::string attainable = "HFU if every kernel hit its roofline and the GPU never idled " +
                             PercentText(efficiency.attainable_hfu());
    if (efficiency.has_attainable_hfu_measured()) {
      attainable +=
          ", under the ceilings measured here " + PercentText(efficiency.attainable_hfu_measured());
    }
    parts.push_back(attainable);
  }
  return Joined(parts);
}

std::string DescribeYield(const EfficiencySummary& efficiency, bool pauses_left_out) {
  std::vector<std::string> parts;
  if (efficiency.has_steps_per_second()) {
    parts.push_back(RatioText(efficiency.steps_per_second()) + " steps/s" +
                    (pauses_left_out ? " between pauses" : ""));
  }
  if (efficiency.has_tokens_per_second()) {
    parts.push_back(CompactCountText(efficiency.tokens_per_second()) + " tokens/s");
  }
  const std::string items = EscapeForTerminal(efficiency.item_name());
  if (efficiency.has_items_per_second()) {
    parts.push_back(RatioText(efficiency.items_per_second()) + " " + items + "/s");
  }
  if (efficiency.has_joules_per_step()) {
    parts.push_back(RatioText(efficiency.joules_per_step()) + " J per step");
  }
  if (efficiency.has_flops_per_joule()) {
    parts.push_back(PrefixedText(efficiency.flops_per_joule(), "FLOP/J"));
  }
  if (efficiency.has_tokens_per_joule()) {
    parts.push_back(RatioText(efficiency.tokens_per_joule()) + " tokens/s per watt");
  }
  if (efficiency.has_items_per_joule()) {
    parts.push_back(RatioText(efficiency.items_per_joule()) + " " + items + "/s per watt");
  }
  return Joined(parts);
}

const LadderRung* RungNamed(const LadderSummary& ladder, std::string_view name) {
  for (const LadderRung& rung : ladder.rungs()) {
    if (rung.name() == name) return &rung;
  }
  return nullptr;
}

// What is lost between now and the rooflines: a kernel at its roof loses nothing, also where it
// only moves bytes. Where the roofs of too many kernels are not known, what lies below the peak.
std::string DescribeLoss(const EfficiencySummary& efficiency, const LadderSummary& ladder) {
  std::string text;
  if (efficiency.has_cost_idle_per_hour()) {
    text += ": " + PriceText(efficiency.cost_idle_per_hour()) + " idle";
  }
  const char* separator = text.empty() ? ": " : ", ";
  const LadderRung* roofline = RungNamed(ladder, "at_roofline");
  const LadderRung* no_idle = RungNamed(ladder, "no_idle");
  if (roofline != nullptr && no_idle != nullptr && ladder.rungs(0).time_ns() > 0) {
    const double lost_ns = std::max(0.0, no_idle->time_ns() - roofline->time_ns());
    const double share = lost_ns / ladder.rungs(0).time_ns();
    text += separator + PriceText(share * efficiency.price_per_hour()) + " above the rooflines";
  } else if (efficiency.has_cost_lost_per_hour()) {
    text += separator + PriceText(efficiency.cost_lost_per_hour()) + " below peak FLOP/s";
  }
  return text;
}

std::string DescribeCost(const Summary& summary) {
  const EfficiencySummary& efficiency = summary.efficiency();
  const StepsSummary& steps = summary.steps();
  if (!efficiency.has_price_per_hour()) return {};
  std::vector<std::string> parts = {"cost: " + PriceText(efficiency.price_per_hour()) + " an hour" +
                                    DescribeLoss(efficiency, summary.ladder())};
  const auto add = [&](bool known, double price, const std::string& what) {
    if (known) parts.push_back(PriceText(price) + " " + what);
  };
  add(efficiency.has_cost_per_step(), efficiency.cost_per_step(), "per step");
  for (const StepLevel& level : steps.levels()) {
    add(level.has_cost() && level.name() != steps.level(), level.cost(),
        "per " + EscapeForTerminal(level.name()));
  }
  add(efficiency.has_cost_per_token(), efficiency.cost_per_token() * 1e6, "per million tokens");
  add(efficiency.has_cost_per_item(), efficiency.cost_per_item() * 1e3,
      "per thousand " + EscapeForTerminal(efficiency.item_name()));
  return Joined(parts);
}

// Up to the first step, nothing that the job is for was done: all of it counts as lost.
double BeforeFirstStepNs(const Summary& summary) {
  double time_ns = 0;
  for (const PhaseSummary& phase : summary.phases()) {
    if (phase.name() == "warmup" || phase.name() == "steps") return time_ns;
    time_ns += phase.time_ns();
  }
  return 0;
}

// The steps' rates above leave out how the run began and ended.
std::string DescribeCostOfRun(const Summary& summary) {
  const EfficiencySummary& efficiency = summary.efficiency();
  if (!efficiency.has_price_per_hour() || !efficiency.has_cost_lost()) return {};
  const double per_ns = efficiency.price_per_hour() / 3600e9;
  const auto wall_ns = static_cast<double>(summary.run().wall_ns());
  std::string text = "cost of the whole run: " + PriceText(per_ns * wall_ns) + ", " +
                     PriceText(efficiency.cost_lost()) + " of it without FLOPs at peak";
  const double before = std::min(per_ns * BeforeFirstStepNs(summary), efficiency.cost_lost());
  if (before > 0) text += ", among it " + PriceText(before) + " before the first step";
  return text;
}

}  // namespace

std::string RenderEfficiency(const Summary& summary, const TextOptions& options) {
  const EfficiencySummary& efficiency = summary.efficiency();
  std::string text;
  const bool pauses_left_out = summary.steps().pause_time_ns() > 0;
  for (const std::string& line :
       {DescribeShares(efficiency), DescribeYield(efficiency, pauses_left_out),
        DescribeCost(summary), DescribeCostOfRun(summary)}) {
    if (!line.empty()) text += Wrap(line, options.columns, 4, 2);
  }
  if (efficiency.has_gap_note()) {
    text += Wrap("HFU and MFU: " + EscapeForTerminal(efficiency.gap_note()), options.columns, 4, 2);
  }
  std::string notes;
  if (efficiency.has_mfu_note()) {
    notes += Wrap("MFU: " + EscapeForTerminal(efficiency.mfu_note()), options.columns, 4, 2);
  }
  if (efficiency.has_mfu() && efficiency.has_model_note()) {
    notes += Wrap("model: " + EscapeForTerminal(efficiency.model_note()), options.columns, 4, 2);
  }
  return text + (notes.empty() ? notes : Styled(notes, Style::kFaint, options.color));
}

std::string RenderMemory(const Summary& summary, const TextOptions& options) {
  const MemorySummary& memory = summary.memory();
  std::vector<std::string> parts;
  if (memory.has_used_bytes_max()) {
    std::string text = "at most " + BytesText(memory.used_bytes_max());
    if (memory.has_total_bytes()) text += " of " + BytesText(memory.total_bytes());
    text += " reserved (as NVML shows it: what allocators hold, not what tensors use)";
    if (memory.has_headroom_bytes()) text += ", " + BytesText(memory.headroom_bytes()) + " left";
    parts.push_back(std::move(text));
  }
  if (memory.leak_suspected()) {
    parts.push_back(memory.has_growth_bytes_per_step()
                        ? "grows by " + BytesText(memory.growth_bytes_per_step()) + " a step"
                        : "grows by " + BytesText(memory.growth_bytes_per_second()) + " a second");
  }
  if (memory.has_pool_used_bytes_max()) {
    parts.push_back("cudaMallocAsync's pools, by their own count: at most " +
                    BytesText(memory.pool_used_bytes_max()) + " in use of " +
                    BytesText(memory.pool_reserved_bytes_max()) + " reserved");
  }
  if (parts.empty()) return {};
  return Wrap("Memory: " + absl::StrJoin(parts, "; "), options.columns, 2);
}

namespace {

std::string RateOrUnknown(bool known, double bytes_per_second) {
  return known ? BytesText(bytes_per_second) + "/s" : std::string(kUnknown);
}

}  // namespace

std::string RenderCommunication(const Summary& summary, const TextOptions& options) {
  if (summary.communication().empty()) return {};
  Table table({{"communication", 0, true},
               {"count", 8},
               {"time", 9},
               {"exposed", 9},
               {"each", 9},
               {"algorithm", 11},
               {"bus", 11}},
              options.columns);
  for (const CommunicationSummary& row : summary.communication()) {
    table.AddRow(
        {EscapeForTerminal(row.collective()), CompactCountText(static_cast<double>(row.launches())),
         TimeText(static_cast<double>(row.time_ns())),
         row.has_exposed_ns() ? TimeText(static_cast<double>(row.exposed_ns()))
                              : std::string(kUnknown),
         row.has_bytes() && row.sized_launches() > 0
             ? BytesText(row.bytes() / static_cast<double>(row.sized_launches()))
             : std::string(kUnknown),
         RateOrUnknown(row.has_algorithm_bytes_per_second(), row.algorithm_bytes_per_second()),
         RateOrUnknown(row.has_bus_bytes_per_second(), row.bus_bytes_per_second())});
  }
  std::string text = table.Render(options.color);
  // The rows' notes, each once.
  std::set<std::string_view> notes;
  for (const CommunicationSummary& row : summary.communication()) {
    if (!row.has_size_note() || !notes.insert(row.size_note()).second) continue;
    text += Styled(
        Wrap(EscapeForTerminal(row.collective() + ": " + row.size_note()), options.columns, 2),
        Style::kFaint, options.color);
  }
  return text;
}

}  // namespace utlz
