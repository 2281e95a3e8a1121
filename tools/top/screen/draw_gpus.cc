#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "collector/text/number_text.h"
#include "tools/top/clock_limits.h"
#include "tools/top/screen/chart.h"
#include "tools/top/screen/draw_parts.h"

namespace utlz::top {
namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kHot = 85;  // degrees Celsius, where most GPUs begin to slow down
constexpr double kHoursShown = 48;

const LiveDevice* FindDevice(const Snapshot& snapshot, const GpuSnapshot& gpu) {
  for (const LiveSnapshot& run : snapshot.runs) {
    if (!run.accepted()) continue;
    for (const LiveDevice& device : run.devices()) {
      if (!gpu.uuid.empty() && device.uuid() == gpu.uuid) return &device;
    }
  }
  return nullptr;
}

// GPM's where it speaks; else what an agent's collector knows of the GPU.
struct Activity {
  std::optional<double> compute;
  std::optional<double> dram;
  std::optional<double> sm;
  std::optional<double> tensor;
  std::optional<double> attained_compute;
  std::optional<double> attained_dram;
  std::string source;
};

std::optional<double> InPercent(bool known, double share) {
  return known ? std::make_optional(100 * share) : std::nullopt;
}

Activity ActivityOf(const GpuSnapshot& gpu, const LiveDevice* device) {
  Activity activity{.compute = gpu.compute_percent,
                    .dram = gpu.dram_active_percent,
                    .sm = gpu.sm_active_percent,
                    .tensor = gpu.tensor_active_percent,
                    .attained_compute = gpu.attained_compute_percent,
                    .attained_dram = gpu.attained_dram_percent,
                    .source = NameOf(gpu.source)};
  if (device == nullptr) return activity;
  if (!activity.attained_compute) {
    activity.attained_compute =
        InPercent(device->has_attained_compute_share(), device->attained_compute_share());
    activity.attained_dram =
        InPercent(device->has_attained_memory_share(), device->attained_memory_share());
  }
  if (gpu.source != ComputeSource::kNvml) return activity;
  if (!device->has_compute_share() && !device->has_memory_share()) return activity;
  activity.compute = InPercent(device->has_compute_share(), device->compute_share());
  activity.tensor = activity.compute;
  activity.dram = InPercent(device->has_memory_share(), device->memory_share());
  activity.sm = InPercent(device->has_sm_active(), device->sm_active());
  activity.source = "agent";
  return activity;
}

std::optional<double> Share(const std::optional<double>& percent) {
  return percent ? std::make_optional(*percent / 100) : std::nullopt;
}

std::string ClockText(const GpuSnapshot& gpu) {
  if (!gpu.sm_clock_mhz) return {};
  std::string text = absl::StrFormat("%.0f", *gpu.sm_clock_mhz);
  if (gpu.sm_clock_max_mhz) absl::StrAppendFormat(&text, " of %.0f", *gpu.sm_clock_max_mhz);
  absl::StrAppend(&text, " MHz");
  if (gpu.clock_limit_reasons.value_or(0) != 0) {
    absl::StrAppend(&text, ": ", absl::StrJoin(ClockLimitNames(*gpu.clock_limit_reasons), ", "));
  }
  return text;
}

std::string PowerText(const GpuSnapshot& gpu) {
  if (!gpu.power_watts) return {};
  std::string text = absl::StrFormat("%.0f", *gpu.power_watts);
  if (gpu.power_limit_watts) absl::StrAppendFormat(&text, " of %.0f", *gpu.power_limit_watts);
  return text + " W";
}

std::string TemperatureText(const GpuSnapshot& gpu, bool unicode) {
  if (!gpu.temperature_celsius) return {};
  return absl::StrFormat("%.0f %s", *gpu.temperature_celsius, unicode ? "°C" : "C");
}

std::string MemoryText(const GpuSnapshot& gpu) {
  if (!gpu.memory_used_bytes) return {};
  std::string text =
      absl::StrFormat("%.1f", static_cast<double>(*gpu.memory_used_bytes) / kGibibyte);
  if (gpu.memory_total_bytes) {
    absl::StrAppendFormat(&text, " of %.1f",
                          static_cast<double>(*gpu.memory_total_bytes) / kGibibyte);
  }
  return text + " GiB";
}

// "full in 19 h"; empty where nothing grows.
std::string TrendText(const GpuSnapshot& gpu) {
  std::string text;
  if (std::abs(gpu.memory_change_bytes_per_second.value_or(0)) >= kMebibyte / 100) {
    text = absl::StrFormat(" %+.2g MiB/s", *gpu.memory_change_bytes_per_second / kMebibyte);
  }
  const std::optional<double> seconds = SecondsUntilFull(gpu);
  if (!seconds || text.empty() || *seconds > kHoursShown * 3600) return text;
  if (*seconds < 120) return absl::StrCat(text, absl::StrFormat(" full in %.0f s", *seconds));
  if (*seconds < 7200) {
    return absl::StrCat(text, absl::StrFormat(" full in %.0f min", *seconds / 60));
  }
  return absl::StrCat(text, absl::StrFormat(" full in %.0f h", *seconds / 3600));
}

std::string LinkText(const char* name, std::optional<double> rx, std::optional<double> tx) {
  if (!rx && !tx) return {};
  return absl::StrFormat("  %s in %.3g out %.3g GB/s", name, rx.value_or(0) / 1e9,
                         tx.value_or(0) / 1e9);
}

void DrawNameRow(int row, const GpuSnapshot& gpu, Canvas* canvas) {
  int column = canvas->Put(row, 0, absl::StrCat("GPU ", gpu.index, " "), Style::kBold);
  const std::string temperature = TemperatureText(gpu, canvas->unicode());
  const std::string right = absl::StrCat(ClockText(gpu), "  ", PowerText(gpu), "  ");
  const int right_columns = ColumnsOnCanvas(right) + ColumnsOnCanvas(temperature);
  const int begin = std::max(canvas->width() - right_columns, column);
  canvas->Put(row, column, gpu.name, Style::kBold, begin - 1);
  const bool limited = (gpu.clock_limit_reasons.value_or(0) & ~uint64_t{1}) != 0;
  column = canvas->Put(row, begin, ClockText(gpu), limited ? Style::kBad : Style::kPlain);
  column = canvas->Put(row, column + 2, PowerText(gpu));
  canvas->Put(row, column + 2, temperature,
              gpu.temperature_celsius.value_or(0) >= kHot ? Style::kBad : Style::kPlain);
}

// "compute [||||   ] 38.2%  HBM [|||    ] 35.9%  GPM"
void DrawSpeedOfLight(int row, int column, int width, const Activity& activity, Canvas* canvas) {
  constexpr int kLabels = 8 + 8 + 2 + 4 + 8;  // "compute ", " 38.2%  ", "HBM ", …
  const int bar = std::max(6, (width - kLabels) / 2);
  column = canvas->Put(row, column, "compute ");
  DrawBar(row, column, bar,
          {Share(activity.compute), Share(activity.attained_compute), Style::kCompute}, canvas);
  canvas->PutRight(row, column + bar + 7, Percent(activity.compute), Style::kCompute);
  column = canvas->Put(row, column + bar + 9, "HBM ");
  DrawBar(row, column, bar, {Share(activity.dram), Share(activity.attained_dram), Style::kMemory},
          canvas);
  canvas->PutRight(row, column + bar + 7, Percent(activity.dram), Style::kMemory);
}

void PutWord(int row, int* column, const std::string& text, Style style, Canvas* canvas) {
  if (*column + ColumnsOnCanvas(text) > canvas->width()) return;  // no half numbers
  *column = canvas->Put(row, *column, text, style) + 2;
}

// "ceiling 52/71%": of compute, and of HBM.
std::string PairText(const char* name, const std::optional<double>& compute,
                     const std::optional<double>& dram) {
  const auto whole = [](const std::optional<double>& percent) {
    return percent ? absl::StrFormat("%.0f", *percent) : std::string("-");
  };
  return absl::StrCat(name, " ", whole(compute), "/", whole(dram), "%");
}

struct Word {
  std::string text;
  Style style = Style::kPlain;
};

// What of the ceilings has no room in its row has some in the next.
std::vector<Word> DrawTruth(int row, const GpuSnapshot& gpu, const Activity& activity,
                            const LiveDevice* device, Canvas* canvas) {
  int column = 0;
  std::vector<Word> left_over;
  const auto put = [&](const std::string& text, Style style) {
    const int before = column;
    PutWord(row, &column, text, style, canvas);
    if (column == before) left_over.push_back({text, style});
  };
  put(absl::StrCat("SM ", Percent(activity.sm)), Style::kGood);
  put(absl::StrCat("tensor ", Percent(activity.tensor)), Style::kPlain);
  put(absl::StrCat("GPU-Util ", Percent(gpu.gpu_util_percent)), Style::kMislead);
  if (const auto score = EfficiencyScorePercent(gpu)) {
    put(absl::StrCat("score ", Percent(score)), Style::kBold);
  }
  if (device != nullptr && device->has_hfu()) {
    put(absl::StrCat("HFU ", PercentOfShare(true, device->hfu())), Style::kBold);
  }
  if (device != nullptr && device->has_workload_compute_share()) {
    put(PairText("ceiling", 100 * device->workload_compute_share(),
                 InPercent(device->has_workload_memory_share(), device->workload_memory_share())),
        Style::kPlain);
  }
  if (activity.attained_compute || activity.attained_dram) {
    put(PairText("attained", activity.attained_compute, activity.attained_dram), Style::kDim);
  }
  put(absl::StrCat("(", activity.source, ")"), Style::kDim);
  if (!gpu.source_reason.empty()) canvas->Put(row, column, gpu.source_reason, Style::kDim);
  return left_over;
}

void DrawMemoryRow(int row, const GpuSnapshot& gpu, const std::vector<Word>& words,
                   Canvas* canvas) {
  constexpr int kBarWidth = 22;
  int column = canvas->Put(row, 0, "memory  ");
  std::optional<double> share;
  if (gpu.memory_used_bytes && gpu.memory_total_bytes.value_or(0) > 0) {
    share =
        static_cast<double>(*gpu.memory_used_bytes) / static_cast<double>(*gpu.memory_total_bytes);
  }
  DrawBar(row, column, kBarWidth, {share, std::nullopt, Style::kPlain}, canvas);
  column = canvas->Put(row, column + kBarWidth + 1, MemoryText(gpu));
  const bool fills = SecondsUntilFull(gpu).value_or(1e9) < 3600;
  column = canvas->Put(row, column, TrendText(gpu), fills ? Style::kBad : Style::kPlain);
  column += 2;
  for (const Word& word : words) PutWord(row, &column, word.text, word.style, canvas);
  column -= 2;
  for (const std::string& link :
       {LinkText("PCIe", gpu.pcie_rx_bytes_per_second, gpu.pcie_tx_bytes_per_second),
        LinkText("NVLink", gpu.nvlink_rx_bytes_per_second, gpu.nvlink_tx_bytes_per_second)}) {
    if (column + ColumnsOnCanvas(link) <= canvas->width()) {
      column = canvas->Put(row, column, link);
    }
  }
}

// "0  compute [||  ] 38.2%  HBM [|| ] 35.9%  SM 84.7%  GPU-Util 95%  690 W"
void DrawCompact(int row, const GpuSnapshot& gpu, const Activity& activity, Canvas* canvas) {
  canvas->Put(row, 0, absl::StrFormat("%2d", gpu.index), Style::kBold);
  constexpr int kLightColumns = 52;
  DrawSpeedOfLight(row, 3, kLightColumns, activity, canvas);
  int column = 3 + kLightColumns + 2;
  const auto put = [&](const std::string& text, Style style) {
    PutWord(row, &column, text, style, canvas);
  };
  put(absl::StrCat("SM", absl::StrFormat("%6s", Percent(activity.sm))), Style::kGood);
  put(absl::StrCat("Util", absl::StrFormat("%6s", Percent(gpu.gpu_util_percent))), Style::kMislead);
  put(PowerText(gpu), Style::kPlain);
  put(TemperatureText(gpu, canvas->unicode()), Style::kPlain);
  put(MemoryText(gpu), Style::kPlain);
}

void DrawSecondCompact(int row, const GpuSnapshot& gpu, Canvas* canvas) {
  int column = 3;
  const bool limited = (gpu.clock_limit_reasons.value_or(0) & ~uint64_t{1}) != 0;
  PutWord(row, &column, ClockText(gpu), limited ? Style::kBad : Style::kPlain, canvas);
  PutWord(row, &column, PowerText(gpu), Style::kPlain, canvas);
  PutWord(row, &column, TemperatureText(gpu, canvas->unicode()), Style::kPlain, canvas);
  PutWord(row, &column, absl::StrCat(MemoryText(gpu), TrendText(gpu)), Style::kPlain, canvas);
}

}  // namespace

std::string Percent(const std::optional<double>& percent) {
  return percent ? absl::StrFormat("%.1f%%", *percent) : "-";
}

std::string PercentOfShare(bool known, double share) {
  return known ? absl::StrFormat("%.1f%%", 100 * share) : "-";
}

std::string StepText(const LiveProcess& process) {
  return process.has_step_seconds() ? TimeText(process.step_seconds() * 1e9) : "-";
}

int DrawGpus(int row, int most, const std::vector<const GpuSnapshot*>& gpus,
             const Snapshot& snapshot, Canvas* canvas) {
  const auto count = static_cast<int>(gpus.size());
  const int rows_each = 4 * count <= most ? 4 : 2 * count <= most ? 2 : 1;
  const int fit = rows_each == 1 && count > most ? most - 1 : count;
  for (int i = 0; i < fit; ++i) {
    const GpuSnapshot& gpu = *gpus[static_cast<size_t>(i)];
    const LiveDevice* const device = FindDevice(snapshot, gpu);
    const Activity activity = ActivityOf(gpu, device);
    if (rows_each == 4) {
      DrawNameRow(row, gpu, canvas);
      DrawSpeedOfLight(row + 1, 0, canvas->width(), activity, canvas);
      const std::vector<Word> words = DrawTruth(row + 2, gpu, activity, device, canvas);
      DrawMemoryRow(row + 3, gpu, words, canvas);
    } else {
      DrawCompact(row, gpu, activity, canvas);
      if (rows_each == 2) DrawSecondCompact(row + 1, gpu, canvas);
    }
    row += rows_each;
  }
  if (fit < count) {
    canvas->Put(row++, 0, absl::StrCat("and ", count - fit, " more: digits hide GPUs"),
                Style::kDim);
  }
  return row;
}

}  // namespace utlz::top
