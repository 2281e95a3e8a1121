// The kernel table of the text report.
#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "collector/normal_interval.h"
#include "collector/text/bound_text.h"
#include "collector/text/kernel_name_fit.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "collector/text/wrapped_text.h"
#include "tools/report/device_roofs.h"
#include "tools/report/kernel_order.h"
#include "tools/report/known_value.h"
#include "tools/report/table.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

// A kernel below this share of its roof deserves a colour if it takes this share of the time.
constexpr double kFarFromRoof = 0.5;
constexpr double kWorthColouring = 0.05;
// On narrower terminals names need the room of two columns more.
constexpr size_t kWideColumns = 96;

// Half of the 95 % interval of the roof column.
std::optional<double> RoofError(const KernelSummary& kernel) {
  if (!kernel.has_estimated_savings_error_ns() || kernel.time_ns() <= 0) return std::nullopt;
  return kNormal95 * kernel.estimated_savings_error_ns() / kernel.time_ns();
}

double PerSecond(double total, const KernelSummary& kernel) {
  return kernel.time_ns() > 0 ? total / kernel.time_ns() * 1e9 : 0;
}

// A type that was only assumed, and numbers of kernels that could not be told apart, are marked.
std::string FlopsCell(const KernelSummary& kernel) {
  std::string cell =
      CompactMeasuredText(KnownValue(kernel.has_flops_per_second(), kernel.flops_per_second()),
                          PerSecond(kernel.flops_error(), kernel));
  if (kernel.merged_with_size() > 0 && kernel.has_flops_per_second())
    cell.insert(cell.begin(), '~');
  return cell;
}

// Of FLOPs that may be none it says "less than", as their rate does.
std::string IntensityCell(const KernelSummary& kernel) {
  if (!kernel.has_arithmetic_intensity() || kernel.dram_bytes() <= 0) {
    return RatioText(std::nullopt);
  }
  const double half_width = kNormal95 * kernel.flops_error();
  if (kernel.flops() > half_width || half_width <= 0) {
    return RatioText(kernel.arithmetic_intensity());
  }
  return "<" + RatioText((kernel.flops() + half_width) / kernel.dram_bytes());
}

std::string BytesCell(const KernelSummary& kernel) {
  std::string cell = CompactMeasuredText(
      KnownValue(kernel.has_dram_bytes_per_second(), kernel.dram_bytes_per_second()),
      PerSecond(kernel.dram_bytes_error(), kernel));
  if (kernel.merged_with_size() > 0 && kernel.has_dram_bytes_per_second())
    cell.insert(cell.begin(), '~');
  return cell;
}

std::string NameOf(const KernelSummary& kernel) {
  return EscapeForTerminal(kernel.short_name().empty() ? kernel.name() : kernel.short_name());
}

// Names as they fit, made different again where cutting made them equal.
std::vector<std::string> FittingNames(const std::vector<const KernelSummary*>& kernels, size_t rows,
                                      size_t width) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (size_t i = 0; i < rows; ++i) {
    const std::string whole = NameOf(*kernels[i]);
    std::string name = FitKernelName(whole, width);
    for (int number = 2; taken.contains(name); ++number) {
      const std::string suffix = " (" + std::to_string(number) + ")";
      name = FitKernelName(whole, width - std::min(width, suffix.size())) + suffix;
    }
    taken.insert(name);
    names.push_back(std::move(name));
  }
  return names;
}

Style StyleOf(const KernelSummary& kernel) {
  const bool far = kernel.has_roofline_efficiency() && kernel.roofline_efficiency() < kFarFromRoof;
  return far && kernel.time_share() >= kWorthColouring ? Style::kWarning : Style::kPlain;
}

std::string RenderRest(const std::vector<const KernelSummary*>& kernels, size_t shown) {
  if (shown >= kernels.size()) return {};
  double time_ns = 0;
  double share = 0;
  for (size_t i = shown; i < kernels.size(); ++i) {
    time_ns += kernels[i]->time_ns();
    share += kernels[i]->time_share();
  }
  return "… and " + std::to_string(kernels.size() - shown) + " more: " + TimeText(time_ns) + ", " +
         PercentText(share) + " of kernel time\n";
}

std::string Legend(const std::vector<const KernelSummary*>& kernels, size_t rows, bool steps) {
  std::string text = steps ? "in the steps · " : "";
  text += "savings: time above the roofline minimum · ±: 95 % interval, of roof · <: at most";
  const bool folded =
      std::any_of(kernels.begin(), kernels.begin() + static_cast<ptrdiff_t>(rows),
                  [](const auto* kernel) { return kernel->merged_with_size() > 0; });
  if (folded) text += " · ~: with others' work";
  const auto last = kernels.begin() + static_cast<ptrdiff_t>(rows);
  if (std::any_of(kernels.begin(), last,
                  [](const auto* kernel) { return kernel->has_own_time_share(); })) {
    text += " · time: kernels that ran at once share it";
  }
  return text;
}

}  // namespace

std::string RenderKernels(const Summary& summary, const TextOptions& options) {
  if (summary.kernels().empty()) return {};
  const std::vector<const KernelSummary*> kernels = SortedKernels(summary, options.order);
  const bool wide = options.columns >= kWideColumns;
  // Where GPUs differ, a kernel's share of the roof is that of its own one.
  const bool numbered = !AllShareRoof(summary);
  std::vector<Table::Column> columns = {{"kernel", 0, true}};
  if (numbered) columns.push_back({"GPU", 3});
  columns.insert(columns.end(), {{"savings", 7}, {"time", 7}, {"share", 5}});
  if (wide) columns.push_back({"launch", 6});
  columns.insert(columns.end(), {{"FLOP/s", 6}, {"B/s", 6}});
  if (wide) columns.push_back({"FLOP/B", 6});
  columns.insert(columns.end(), {{"bound", 7}, {"roof", 4}, {"±", 4}});
  Table table(columns, options.columns);
  const size_t rows = std::min<size_t>(options.top, kernels.size());
  const std::vector<std::string> names = FittingNames(kernels, rows, table.free_width());
  const DeviceIndex devices(summary);
  for (size_t i = 0; i < rows; ++i) {
    const KernelSummary& kernel = *kernels[i];
    std::vector<std::string> cells = {names[i]};
    const auto add = [&cells](std::string cell) { cells.push_back(std::move(cell)); };
    if (numbered) add(std::to_string(devices.Of(kernel)));
    add(TimeText(KnownValue(kernel.has_estimated_savings_ns(), kernel.estimated_savings_ns())));
    add(TimeText(KnownValue(kernel.has_time_ns(), kernel.time_ns())));
    add(ShortPercentText(KnownValue(kernel.has_time_share(), kernel.time_share())));
    if (wide) add(CompactCountText(static_cast<double>(kernel.launches())));
    add(FlopsCell(kernel));
    add(BytesCell(kernel));
    if (wide) add(IntensityCell(kernel));
    add(ShortBoundText(kernel.bound()));
    add(ShortPercentText(
        KnownValue(kernel.has_roofline_efficiency(), kernel.roofline_efficiency())));
    add(ShortPercentText(RoofError(kernel)));
    table.AddRow(std::move(cells), StyleOf(kernel));
  }
  return table.Render(options.color) + RenderRest(kernels, rows) +
         Styled(Wrap(Legend(kernels, rows, summary.steady_state().scope() == "steps"),
                     options.columns, 2),
                Style::kFaint, options.color);
}

}  // namespace utlz
