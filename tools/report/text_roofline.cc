// A small roofline for the terminal: log-log, kernels as letters, those with most time first.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "collector/text/kernel_name_fit.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "collector/text/wrapped_text.h"
#include "tools/report/device_roofs.h"
#include "tools/report/table.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

constexpr size_t kRows = 12;
constexpr size_t kAxisColumns = 7;
constexpr size_t kLegendColumns = 34;
constexpr size_t kLetters = 10;
constexpr size_t kLeastColumns = 30;
constexpr size_t kRoofCandidates = 128;

struct Roof {
  double bytes_per_second = 0;
  struct Ceiling {
    std::string label;
    double flops_per_second;
  };
  std::vector<Ceiling> ceilings;  // of the data types in use, highest first

  // The intensity at which a ceiling meets the slope.
  double Ridge(const Ceiling& ceiling) const { return ceiling.flops_per_second / bytes_per_second; }
};

// A profile may hold any number.
bool HasPlace(double value) { return std::isnormal(value) && value > 0; }

bool HasPlace(const KernelSummary& kernel) {
  return HasPlace(kernel.arithmetic_intensity()) && HasPlace(kernel.flops_per_second());
}

// Whose roof is drawn, and which devices' kernels stand under it. The summary must have a device.
struct Drawn {
  int device = 0;
  std::vector<bool> under;  // by device
  DeviceIndex index;

  bool Holds(const KernelSummary& kernel) const {
    return under[static_cast<size_t>(index.Of(kernel))];
  }
};

std::vector<bool> UnderRoofOf(const Summary& summary, int device) {
  std::vector<bool> under;
  for (const DeviceSummary& other : summary.devices()) {
    under.push_back(ShareRoof(summary.devices(device), other));
  }
  return under;
}

// Of kernels that have a place, by device.
std::vector<double> PlacedTimeNs(const Summary& summary, const DeviceIndex& index) {
  std::vector<double> time_ns(static_cast<size_t>(summary.devices_size()), 0);
  for (const KernelSummary& kernel : summary.kernels()) {
    if (!HasPlace(kernel)) continue;
    time_ns[static_cast<size_t>(index.Of(kernel))] += kernel.time_ns();
  }
  return time_ns;
}

// The devices whose kernels take most time, in their order. Only their roofs are compared with all
// others: a profile may name any number of devices.
std::vector<int> RoofCandidates(const std::vector<double>& time_ns) {
  std::vector<int> devices(time_ns.size());
  std::iota(devices.begin(), devices.end(), 0);
  if (devices.size() <= kRoofCandidates) return devices;
  std::stable_sort(devices.begin(), devices.end(), [&](int a, int b) {
    return time_ns[static_cast<size_t>(a)] > time_ns[static_cast<size_t>(b)];
  });
  devices.resize(kRoofCandidates);
  std::sort(devices.begin(), devices.end());
  return devices;
}

// The roof under which kernels with a place take most time.
Drawn ChooseRoof(const Summary& summary) {
  Drawn drawn = {0, UnderRoofOf(summary, 0), DeviceIndex(summary)};
  const std::vector<double> time_ns = PlacedTimeNs(summary, drawn.index);
  double most_ns = 0;
  for (const int device : RoofCandidates(time_ns)) {
    std::vector<bool> under = UnderRoofOf(summary, device);
    double sum_ns = 0;
    for (size_t i = 0; i < under.size(); ++i) sum_ns += under[i] ? time_ns[i] : 0;
    if (!(sum_ns > most_ns)) continue;
    most_ns = sum_ns;
    drawn.device = device;
    drawn.under = std::move(under);
  }
  return drawn;
}

std::vector<const KernelSummary*> KernelsUnder(const Drawn& drawn, const Summary& summary) {
  std::vector<const KernelSummary*> kernels;
  for (const KernelSummary& kernel : summary.kernels()) {
    if (HasPlace(kernel) && drawn.Holds(kernel)) kernels.push_back(&kernel);
  }
  return kernels;
}

std::optional<Roof> RoofOf(const DeviceSummary& device,
                           const std::vector<const KernelSummary*>& kernels) {
  std::set<std::string> used;
  for (const KernelSummary* kernel : kernels) {
    for (const DataTypeFlops& type : kernel->flops_by_type()) {
      if (type.flops() > 0) used.insert(type.data_type());
    }
  }
  Roof roof;
  roof.bytes_per_second = device.peak_dram_bytes_per_second();
  for (const PeakSummary& peak : device.peaks()) {
    if (!used.contains(peak.data_type()) || peak.flops_per_second() <= 0) continue;
    roof.ceilings.push_back({EscapeForTerminal(peak.data_type()), peak.flops_per_second()});
  }
  std::stable_sort(roof.ceilings.begin(), roof.ceilings.end(), [](const auto& a, const auto& b) {
    return a.flops_per_second > b.flops_per_second;
  });
  if (roof.ceilings.empty() || !HasPlace(roof.Ridge(roof.ceilings.front())) ||
      !HasPlace(roof.Ridge(roof.ceilings.back()))) {
    return std::nullopt;
  }
  return roof;
}

void KeepThoseWithMostTime(std::vector<const KernelSummary*>* kernels) {
  std::stable_sort(kernels->begin(), kernels->end(),
                   [](const auto* a, const auto* b) { return a->time_ns() > b->time_ns(); });
  if (kernels->size() > kLetters) kernels->resize(kLetters);
}

class Plot {
 public:
  Plot(size_t columns, const Roof& roof, const std::vector<const KernelSummary*>& kernels)
      : columns_(columns), cells_(kRows, std::vector<std::string>(columns, " ")) {
    double low_x = roof.Ridge(roof.ceilings.back());
    double high_x = 2 * roof.Ridge(roof.ceilings.front());
    double low_y = roof.ceilings.back().flops_per_second;
    double high_y = roof.ceilings.front().flops_per_second;
    for (const KernelSummary* kernel : kernels) {
      low_x = std::min(low_x, kernel->arithmetic_intensity());
      high_x = std::max(high_x, kernel->arithmetic_intensity());
      low_y = std::min(low_y, kernel->flops_per_second());
      high_y = std::max(high_y, kernel->flops_per_second());
    }
    low_x_ = std::log(low_x / 3);
    high_x_ = std::log(high_x * 1.5);
    low_y_ = std::log(low_y / 2);
    high_y_ = std::log(high_y * 1.6);
    DrawRoof(roof);
    // Where two fall together the one with more time stays.
    for (size_t i = kernels.size(); i-- > 0;) DrawKernel(*kernels[i], static_cast<char>('a' + i));
    for (const Roof::Ceiling& ceiling : roof.ceilings) LabelCeiling(roof, ceiling);
  }

  std::string Line(size_t row) const {
    std::string line;
    for (const std::string& cell : cells_[row]) line += cell;
    return line;
  }

  double FlopsAt(size_t row) const {
    return std::exp(high_y_ - (static_cast<double>(row) + 0.5) / kRows * (high_y_ - low_y_));
  }
  double IntensityAt(size_t column) const {
    return std::exp(low_x_ + (static_cast<double>(column) + 0.5) / static_cast<double>(columns_) *
                                 (high_x_ - low_x_));
  }

 private:
  std::string* CellAt(size_t column, double flops) {
    const double place = (high_y_ - std::log(flops)) / (high_y_ - low_y_) * kRows;
    if (!(place >= 0 && place < kRows)) return nullptr;
    return &cells_[static_cast<size_t>(place)][column];
  }

  // The ceilings of slower data types lie under the roof, dotted.
  void DrawRoof(const Roof& roof) {
    for (size_t column = 0; column < columns_; ++column) {
      const double intensity = IntensityAt(column);
      const double memory = intensity * roof.bytes_per_second;
      for (size_t i = roof.ceilings.size(); i-- > 0;) {
        const double limit = roof.ceilings[i].flops_per_second;
        if (memory < limit) continue;
        if (std::string* cell = CellAt(column, limit)) *cell = i == 0 ? "─" : "┈";
      }
      if (memory < roof.ceilings.front().flops_per_second) {
        if (std::string* cell = CellAt(column, memory)) *cell = "/";
      }
    }
  }

  // Where a label may begin, as far to the right as no kernel and no other label lies in it or
  // beside it; none where there is no such place to the right of the slope.
  std::optional<size_t> PlaceOfLabel(const Roof& roof, const Roof::Ceiling& ceiling, size_t width) {
    size_t clear = 0;
    for (size_t column = columns_; column-- > 0;) {
      if (IntensityAt(column) < roof.Ridge(ceiling)) return std::nullopt;
      const std::string* cell = CellAt(column, ceiling.flops_per_second);
      clear = cell != nullptr && (*cell == "─" || *cell == "┈") ? clear + 1 : 0;
      if (clear == width + 2) return column + 1;
    }
    return std::nullopt;
  }

  void LabelCeiling(const Roof& roof, const Roof::Ceiling& ceiling) {
    const auto place = PlaceOfLabel(roof, ceiling, ColumnsOf(ceiling.label));
    if (!place.has_value()) return;
    size_t column = *place;
    std::string* cell = nullptr;
    for (const char byte : ceiling.label) {
      if (ColumnsOf({&byte, 1}) > 0) {  // a character begins
        cell = CellAt(column++, ceiling.flops_per_second);
        if (cell != nullptr) cell->clear();
      }
      if (cell != nullptr) *cell += byte;
    }
  }

  void DrawKernel(const KernelSummary& kernel, char letter) {
    const double place = (std::log(kernel.arithmetic_intensity()) - low_x_) / (high_x_ - low_x_);
    const auto column =
        static_cast<size_t>(std::clamp(place, 0.0, 0.9999) * static_cast<double>(columns_));
    std::string* cell = CellAt(column, kernel.flops_per_second());
    if (cell != nullptr) *cell = std::string(1, letter);
  }

  size_t columns_;
  double low_x_ = 0, high_x_ = 1, low_y_ = 0, high_y_ = 1;
  std::vector<std::vector<std::string>> cells_;
};

std::string LegendLine(const KernelSummary& kernel, char letter) {
  const std::string share = ShortPercentText(kernel.has_roofline_efficiency()
                                                 ? std::make_optional(kernel.roofline_efficiency())
                                                 : std::nullopt);
  const std::string name =
      EscapeForTerminal(kernel.short_name().empty() ? kernel.name() : kernel.short_name());
  return std::string("  ") + letter + " " + RightAligned(share, 4) + " " +
         FitKernelName(name, kLegendColumns - 9);
}

std::string AxisLine(const Plot& plot, size_t columns) {
  std::string line = std::string(kAxisColumns, ' ');
  for (size_t column = 0; column < columns; column += 12) {
    const std::string text = RatioText(plot.IntensityAt(column));
    if (column + ColumnsOf(text) > columns) break;  // a number that is cut is another number
    line += text + std::string(12 - std::min<size_t>(12, ColumnsOf(text)), ' ');
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line + " FLOP/B\n";
}

struct LeftOut {
  double share = 0;
  size_t kernels = 0;

  void Add(const KernelSummary& kernel) {
    share += kernel.time_share();
    ++kernels;
  }
  std::string Text(const std::string& which) const {
    return std::to_string(kernels) + (kernels == 1 ? " kernel " : " kernels ") + which + " (" +
           PercentText(share) + " of kernel time)";
  }
};

// Copies do no FLOPs: a kernel whose bytes are known is not one without counters.
std::string NotDrawn(const Summary& summary) {
  LeftOut with_bytes, without;
  for (const KernelSummary& kernel : summary.kernels()) {
    if (!HasPlace(kernel)) (kernel.has_dram_bytes() ? with_bytes : without).Add(kernel);
  }
  std::string text;
  if (with_bytes.kernels > 0) text = with_bytes.Text("with bytes, but no known FLOPs");
  if (without.kernels > 0) {
    text += (text.empty() ? "" : ", ") + without.Text("whose bytes are not known");
  }
  return text.empty() ? text : "Not plotted: " + text + ".";
}

std::string Title(const Summary& summary, const Drawn& drawn, const Roof& roof) {
  const std::string limits = PrefixedText(roof.ceilings.front().flops_per_second, "FLOP/s") +
                             " and " + BytesText(roof.bytes_per_second) + "/s";
  if (AllShareRoof(summary)) {
    return "Roofline: FLOP/s over FLOP per byte, share of the roof; the roof is " + limits;
  }
  return "Roofline of GPU " + std::to_string(drawn.device) +
         ": FLOP/s over FLOP per byte, share of the roof: " + limits;
}

// What stands under roofs that are not drawn.
std::string UnderOtherRoofs(const Summary& summary, const Drawn& drawn) {
  double share = 0;
  size_t kernels = 0;
  for (const KernelSummary& kernel : summary.kernels()) {
    if (!HasPlace(kernel) || drawn.Holds(kernel)) continue;
    share += kernel.time_share();
    ++kernels;
  }
  if (kernels == 0) return {};
  std::string others;
  for (int i = 0; i < summary.devices_size(); ++i) {
    if (drawn.under[static_cast<size_t>(i)]) continue;
    others += (others.empty() ? "GPU " : ", GPU ") + std::to_string(i) + " (" +
              EscapeForTerminal(summary.devices(i).name()) + ")";
  }
  return std::to_string(kernels) + (kernels == 1 ? " kernel (" : " kernels (") +
         PercentText(share) + " of kernel time) stand under other roofs, of " + others +
         ": the table judges each by its own, and --format html draws it.";
}

}  // namespace

std::string RenderRoofline(const Summary& summary, const TextOptions& options) {
  if (summary.devices().empty()) return {};
  const Drawn drawn = ChooseRoof(summary);
  std::vector<const KernelSummary*> kernels = KernelsUnder(drawn, summary);
  const std::optional<Roof> roof = RoofOf(summary.devices(drawn.device), kernels);
  KeepThoseWithMostTime(&kernels);
  const size_t taken = kAxisColumns + kLegendColumns;
  if (!roof || kernels.empty() || options.columns < taken + kLeastColumns) return {};
  const size_t columns = options.columns - taken;
  const Plot plot(columns, *roof, kernels);
  std::string text =
      Styled(Wrap(Title(summary, drawn, *roof), options.columns, 2), Style::kFaint, options.color);
  for (size_t row = 0; row < kRows; ++row) {
    std::string axis = row % 3 == 1 ? CompactText(plot.FlopsAt(row)) : "";
    if (ColumnsOf(axis) > kAxisColumns - 2) axis.clear();
    std::string line = RightAligned(axis, kAxisColumns - 2) + " │" + plot.Line(row);
    if (row < kernels.size()) line += LegendLine(*kernels[row], static_cast<char>('a' + row));
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  text += AxisLine(plot, columns - 8);
  for (const std::string& rest : {NotDrawn(summary), UnderOtherRoofs(summary, drawn)}) {
    if (!rest.empty()) text += Wrap(rest, options.columns, 2);
  }
  return text;
}

}  // namespace utlz
