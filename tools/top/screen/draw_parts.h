// The parts that pages are made of. Each draws from a row on and returns the row after it.
#ifndef UTLZ_TOOLS_TOP_SCREEN_DRAW_PARTS_H_
#define UTLZ_TOOLS_TOP_SCREEN_DRAW_PARTS_H_

#include <string>
#include <vector>

#include "tools/top/screen/canvas.h"
#include "tools/top/screen/history.h"
#include "tools/top/screen/rows.h"
#include "tools/top/screen/view.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

// 4 rows a GPU, or 2, or 1: what fits into `most` rows.
int DrawGpus(int row, int most, const std::vector<const GpuSnapshot*>& gpus,
             const Snapshot& snapshot, Canvas* canvas);

// Two charts side by side, with their titles.
int DrawGpuCharts(int row, int height, const std::vector<const GpuSnapshot*>& gpus,
                  const History& history, const View& view, Canvas* canvas);

int DrawProcesses(int row, int height, const std::vector<ProcessRow>& rows, bool any_live,
                  View* view, Canvas* canvas);

// Its kernels, or the layers or lines of its run.
int DrawWork(int row, int height, const RunOfProcess& live, bool focused, View* view,
             Canvas* canvas);

// "idle: launch 3 %  memory-bound 22 % …" in one row, of the GPU where the process works.
int DrawCausesLine(int row, const RunOfProcess& live, Canvas* canvas);
// As bars, largest first.
int DrawCauses(int row, int height, int end, const RunOfProcess& live, Canvas* canvas);

// A chart with a title above it.
void DrawTitledChart(const Box& box, const std::string& title, const std::vector<ChartLine>& lines,
                     double highest, Canvas* canvas);

// "2 min": what a chart of this width shows.
std::string SpanText(int width, const View& view, bool unicode);

// "12 %", or a dash.
std::string Percent(const std::optional<double>& percent);
std::string PercentOfShare(bool known, double share);
// The process's own step time, or a dash.
std::string StepText(const LiveProcess& process);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_DRAW_PARTS_H_
