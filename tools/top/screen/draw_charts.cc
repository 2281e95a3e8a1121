
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/top/screen/chart.h"
#include "tools/top/screen/draw_parts.h"

namespace utlz::top {

std::string SpanText(int width, const View& view, bool unicode) {
  const double seconds =
      ChartValues(width, unicode) * static_cast<double>(view.ticks_a_dot) * view.interval_seconds;
  if (seconds < 120) return absl::StrFormat("%.0f s", seconds);
  if (seconds < 7200) return absl::StrFormat("%.0f min", seconds / 60);
  return absl::StrFormat("%.1f h", seconds / 3600);
}

void DrawTitledChart(const Box& box, const std::string& title, const std::vector<ChartLine>& lines,
                     double highest, Canvas* canvas) {
  canvas->Put(box.row, box.column, title, Style::kTitle, box.column + box.width);
  DrawChart({box.row + 1, box.column, box.width, box.height - 1}, lines, highest, canvas);
}

int DrawGpuCharts(int row, int height, const std::vector<const GpuSnapshot*>& gpus,
                  const History& history, const View& view, Canvas* canvas) {
  if (height < 3 || gpus.empty()) return row;
  std::vector<unsigned> indices;
  for (const GpuSnapshot* gpu : gpus) indices.push_back(gpu->index);
  const int gap = 2;
  const int width = (canvas->width() - gap) / 2;
  const auto count = static_cast<size_t>(ChartValues(width, canvas->unicode()));
  const auto series = [&](GpuValue value) {
    return history.OfGpus(indices, value, count, view.ticks_a_dot);
  };
  const std::string span = SpanText(width, view, canvas->unicode());
  const std::string mean = indices.size() > 1 ? ", mean" : "";
  int column =
      canvas->Put(row, 0, absl::StrCat("compute, ", span, mean), Style::kCompute, width - 9);
  canvas->Put(row, column + 1, "GPU-Util", Style::kMislead, width);
  canvas->Put(row, width + gap, absl::StrCat("HBM, ", span, mean), Style::kMemory);
  DrawChart({row + 1, 0, width, height - 1},
            {{series(GpuValue::kCompute), Style::kCompute, true},
             {series(GpuValue::kGpuUtil), Style::kMislead, false}},
            100, canvas);
  DrawChart({row + 1, width + gap, width, height - 1},
            {{series(GpuValue::kDram), Style::kMemory, true}}, 100, canvas);
  return row + height;
}

}  // namespace utlz::top
