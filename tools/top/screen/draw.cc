#include "tools/top/screen/draw.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/text/bound_text.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tools/top/screen/draw_parts.h"
#include "tools/top/screen/keys.h"
#include "tools/top/screen/rows.h"
#include "tools/top/time_of_day.h"

namespace utlz::top {
namespace {

std::string Counted(size_t count, const char* one) {
  return absl::StrCat(count, " ", one, count == 1 ? "" : "s");
}

bool AnyLive(const std::vector<ProcessRow>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ProcessRow& row) { return row.live.run != nullptr; });
}

void DrawHead(const Snapshot& snapshot, size_t processes, const View& view, Canvas* canvas) {
  int column = canvas->Put(0, 0, "utlz top", Style::kBold);
  std::string head =
      absl::StrCat("  ", TimeOfDay(snapshot.time_ns), "  ", Counted(snapshot.gpus.size(), "GPU"));
  if (!view.hidden_gpus.empty()) {
    absl::StrAppend(&head, " (", view.hidden_gpus.size(), " hidden)");
  }
  absl::StrAppend(&head, "  ", processes, processes == 1 ? " process" : " processes");
  if (view.only_own) absl::StrAppend(&head, " of yours");
  absl::StrAppend(&head, absl::StrFormat("  every %.3g s", view.interval_seconds));
  column = canvas->Put(0, column, head);
  if (!view.filter.empty() || view.types_filter) {
    canvas->Put(0, column + 2, absl::StrCat("filter: ", view.filter, view.types_filter ? "_" : ""),
                Style::kBold);
  }
}

const char* PluralOf(WorkKind kind) {
  constexpr std::array<const char*, kWorkKinds> kNames = {"Kernels", "Layers", "Lines"};
  return kNames[static_cast<size_t>(kind)];
}

// As many as there is room for.
void DrawKeyLine(const View& view, bool any_live, Canvas* canvas) {
  const int row = canvas->height() - 1;
  canvas->Fill(row, Style::kBar);
  if (view.types_filter) {
    canvas->Put(row, 0, absl::StrCat("filter: ", view.filter, "_   Enter keeps it, Esc removes it"),
                Style::kBar);
    return;
  }
  if (view.names_sort_key) {
    canvas->Put(row, 0,
                "sort by: n GPU  p PID  u user  g GPU memory  s step  h HFU  c CPU  m memory  "
                "t time",
                Style::kBar);
    return;
  }
  const std::string list = absl::StrCat("l ", PluralOf(After(view.listed)));
  const std::string keys =
      view.page != Page::kMain
          ? absl::StrCat(
                "F1 Help  Esc Back  ",
                view.page == Page::kProcess ? absl::StrCat("Enter Open  ", list, "  ") : "",
                "+ - Time  F10 Quit")
      : any_live ? absl::StrCat("F1 Help  Enter Open  F4 Filter  F5 Tree  F6 Sort  Tab Table  ",
                                list, "  F10 Quit")
                 : "F1 Help  Enter Open  F4 Filter  F5 Tree  F6 Sort  u Own  F10 Quit";
  canvas->Put(row, 0, keys, Style::kBar);
}

void DrawMain(const Snapshot& snapshot, const History& history, View* view, Canvas* canvas) {
  const std::vector<const GpuSnapshot*> gpus = VisibleGpus(snapshot, *view);
  const std::vector<ProcessRow> rows = ProcessRows(snapshot, *view);
  const bool any_live = AnyLive(rows);
  DrawHead(snapshot, rows.size(), *view, canvas);
  const int end = canvas->height() - 1;
  constexpr int kLeastTable = 4;  // its titles and three rows
  const int below = kLeastTable + (any_live ? 1 + kLeastTable : 0);
  int row = DrawGpus(1, std::max(1, end - 1 - below), gpus, snapshot, canvas);
  const int left = end - row - below;
  row = DrawGpuCharts(row, std::min({left, 3 + left / 2, 11}), gpus, history, *view, canvas);
  const RunOfProcess live = rows.empty() ? RunOfProcess() : rows[SelectedProcess(rows, *view)].live;
  int table = end - row;
  if (live.run != nullptr) {
    const int wanted = 1 + std::max(1, static_cast<int>(rows.size()));
    table = std::min(wanted, std::max(kLeastTable, (end - row) / 2));
  }
  row = DrawProcesses(row, table, rows, any_live, view, canvas);
  if (live.run == nullptr) return;
  row = DrawCausesLine(row, live, canvas);
  DrawWork(row, end - row, live, view->focus == Focus::kWork, view, canvas);
}

int DrawProcessHead(const ProcessRow& process, Canvas* canvas) {
  canvas->Put(0, 0, absl::StrCat("process ", process.process->pid), Style::kBold);
  canvas->Put(0, 9 + ColumnsOnCanvas(absl::StrCat(process.process->pid)),
              absl::StrCat(process.process->user, "  ", process.process->command));
  if (process.live.run == nullptr) return 1;
  const LiveSnapshot& run = *process.live.run;
  const LiveProcess& live = *process.live.process;
  int column = 0;
  const auto put = [&](const std::string& text, Style style) {
    if (column + ColumnsOnCanvas(text) > canvas->width()) return;
    column = canvas->Put(1, column, text, style) + 2;
  };
  if (live.has_step_seconds()) {
    put(absl::StrCat("step ", StepText(live)), Style::kBold);
  } else if (run.has_step_seconds()) {
    put(absl::StrCat("step of its run ", TimeText(run.step_seconds() * 1e9)), Style::kBold);
  }
  put(absl::StrCat("HFU ", PercentOfShare(live.has_hfu(), live.hfu())), Style::kBold);
  put(absl::StrCat("MFU ", PercentOfShare(run.has_mfu(), run.mfu())), Style::kPlain);
  put(absl::StrCat("kernels ", PercentOfShare(live.has_kernel_share(), live.kernel_share()),
                   " of its time"),
      Style::kPlain);
  if (live.has_rank()) put(absl::StrCat("rank ", live.rank()), Style::kPlain);
  put(absl::StrCat("traced ", PercentOfShare(live.has_traced_share(), live.traced_share())),
      Style::kDim);
  if (run.collector_pid() != 0) put(absl::StrCat("collector ", run.collector_pid()), Style::kDim);
  int row = 2;
  for (const std::string* reason : {&live.agent(), &run.counters_reason()}) {
    if (reason->empty()) continue;
    canvas->Put(row++, 0, EscapeForTerminal(*reason), Style::kDim);
  }
  return row;
}

std::string TitleWithNow(const char* name, const std::string& now, int width, const View& view,
                         const Canvas& canvas) {
  return absl::StrCat(name, " ", now, ", ", SpanText(width, view, canvas.unicode()));
}

double HighestOf(const Series& series) {
  double highest = 0;
  for (const auto& value : series) highest = std::max(highest, value.value_or(0));
  return highest > 0 ? highest * 1.1 : 1;
}

int DrawProcessCharts(int row, int height, const ProcessRow& process, const History& history,
                      const View& view, Canvas* canvas) {
  const int width = (canvas->width() - 2) / 2;
  const auto count = static_cast<size_t>(ChartValues(width, canvas->unicode()));
  const pid_t pid = process.process->pid;
  const LiveProcess& live = *process.live.process;
  const Series step = history.OfProcess(pid, JobValue::kStepSeconds, count, view.ticks_a_dot);
  const Series hfu = history.OfProcess(pid, JobValue::kHfu, count, view.ticks_a_dot);
  const Series mfu = history.OfProcess(pid, JobValue::kMfu, count, view.ticks_a_dot);
  DrawTitledChart({row, 0, width, height},
                  TitleWithNow("step", live.has_step_seconds() ? StepText(live) : "not found",
                               width, view, *canvas),
                  {{step, Style::kMemory, true}}, HighestOf(step), canvas);
  DrawTitledChart(
      {row, width + 2, width, height},
      TitleWithNow("HFU", PercentOfShare(live.has_hfu(), live.hfu()), width, view, *canvas),
      {{hfu, Style::kCompute, true}, {mfu, Style::kGood, false}}, 1, canvas);
  return row + height;
}

void DrawWithoutAgent(int row, const Snapshot& snapshot, const ProcessRow& process,
                      const History& history, const View& view, Canvas* canvas) {
  std::vector<const GpuSnapshot*> gpus;
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    const auto& of_process = process.gpus;
    if (std::find(of_process.begin(), of_process.end(), gpu.index) != of_process.end()) {
      gpus.push_back(&gpu);
    }
  }
  row =
      DrawGpuCharts(row + 1, std::min(12, canvas->height() - row - 8), gpus, history, view, canvas);
  canvas->Put(row + 1, 0, "No collector reports this process: its kernels, step time and HFU are");
  canvas->Put(row + 2, 0, "not known. This command attaches to it and shows them:");
  canvas->Put(row + 4, 2, absl::StrCat("utlz attach ", process.process->pid), Style::kBold);
}

void DrawGone(const char* what, Canvas* canvas) {
  canvas->Put(1, 0, absl::StrCat("the ", what, " is gone: Esc goes back"), Style::kBold);
}

const ProcessRow* SelectedRow(const std::vector<ProcessRow>& rows, const View& view) {
  for (const ProcessRow& row : rows) {
    if (row.process->pid == view.process) return &row;
  }
  return nullptr;
}

void DrawProcessPage(const Snapshot& snapshot, const History& history, View* view, Canvas* canvas) {
  const std::vector<ProcessRow> rows = ProcessRows(snapshot, *view);
  const ProcessRow* const process = SelectedRow(rows, *view);
  if (process == nullptr) return DrawGone("process", canvas);
  int row = DrawProcessHead(*process, canvas);
  if (process->live.run == nullptr) {
    return DrawWithoutAgent(row, snapshot, *process, history, *view, canvas);
  }
  const int left = canvas->height() - 1 - row;
  row = DrawProcessCharts(row, std::clamp(left / 4, 4, 12), *process, history, *view, canvas);
  row = DrawCauses(row, std::clamp(left / 4, 3, 10), std::min(canvas->width(), 80), process->live,
                   canvas);
  DrawWork(row, canvas->height() - 1 - row, process->live, true, view, canvas);
}

// The whole name, in as many rows as it needs, at most four.
int DrawWorkName(const WorkRow& work, Canvas* canvas) {
  std::string name = EscapeForTerminal(work.name);
  int row = 0;
  for (; !name.empty() && row < 4; ++row) {
    canvas->Put(row, 0, name, Style::kBold);
    size_t cut = 0;
    for (int i = 0; i < canvas->width() && cut < name.size(); ++i) {
      do {
        ++cut;
      } while (cut < name.size() && (static_cast<unsigned char>(name[cut]) & 0xc0) == 0x80);
    }
    name.erase(0, cut);
  }
  return row;
}

void DrawWorkPage(const Snapshot& snapshot, const History& history, View* view, Canvas* canvas) {
  const std::vector<ProcessRow> rows = ProcessRows(snapshot, *view);
  const ProcessRow* const process = SelectedRow(rows, *view);
  if (process == nullptr) return DrawGone("process", canvas);
  const std::vector<WorkRow> all = WorkRows(process->live, view->listed);
  const auto found = std::find_if(all.begin(), all.end(),
                                  [view](const WorkRow& work) { return work.id == view->work; });
  if (found == all.end()) {
    canvas->Put(1, 0,
                absl::StrCat("this ", NameOf(view->listed),
                             " takes little time now, or none: Esc goes back"),
                Style::kBold);
    return;
  }
  const WorkRow& work = *found;
  int row = DrawWorkName(work, canvas);
  const std::string about =
      absl::StrCat(NameOf(view->listed), work.about.empty() ? "" : " ", work.about);
  canvas->Put(row++, 0,
              absl::StrCat(EscapeForTerminal(about), "  bound: ", BoundText(work.bound), "  ",
                           PrefixedText(work.flops_per_second, "FLOP/s"), "  ",
                           PrefixedText(work.dram_bytes_per_second, "B/s"), " of DRAM  process ",
                           process->process->pid));
  const int height = std::clamp((canvas->height() - 2 - row) / 3, 3, 12);
  const int width = canvas->width();
  const auto count = static_cast<size_t>(ChartValues(width, canvas->unicode()));
  const auto chart = [&](WorkValue value, const char* name, const std::string& now, Style style) {
    const Series values = history.OfWork(work.id, value, count, view->ticks_a_dot);
    DrawTitledChart({row, 0, width, height}, TitleWithNow(name, now, width, *view, *canvas),
                    {{values, style, true}}, value == WorkValue::kMeanTime ? HighestOf(values) : 1,
                    canvas);
    row += height;
  };
  const auto percent = [](const std::optional<double>& share) {
    return PercentOfShare(share.has_value(), share.value_or(0));
  };
  chart(WorkValue::kTimeShare, "share of the kernels' time", percent(work.time_share),
        Style::kCompute);
  chart(WorkValue::kMeanTime, "one launch", TimeText(work.mean_time_ns), Style::kMemory);
  chart(WorkValue::kRoofShare, "of its roof", percent(work.roof_share), Style::kGood);
}

void DrawHelp(const View& view, Canvas* canvas) {
  constexpr int kWhatColumn = 16;
  canvas->Put(0, 0, "utlz top: keys", Style::kBold);
  int row = 2;
  const auto keys = AllKeys();
  for (size_t i = view.help_line; i < keys.size() && row < canvas->height() - 1; ++i) {
    canvas->Put(row, 2, keys[i].keys, Style::kBold);
    canvas->Put(row++, 2 + kWhatColumn, keys[i].what);
  }
  for (const char* line :
       {"", "GPU-Util is the share of time in which any kernel ran, on one SM or on all. How",
        "much of the GPU works is said by compute and HBM, shares of its speed of light.",
        "The line in a bar is what utlz calibrate attained on this GPU; the ceiling is",
        "what the kernels of this work could reach. No key here changes a process."}) {
    if (row < canvas->height() - 1) canvas->Put(row++, 0, line);
  }
}

}  // namespace

Canvas Draw(const Snapshot& snapshot, const History& history, View* view) {
  Canvas canvas(view->width, view->height, view->unicode);
  if (view->width < kLeastWidth || view->height < kLeastHeight) {
    canvas.Put(0, 0, absl::StrCat("needs ", kLeastWidth, "x", kLeastHeight));
    return canvas;
  }
  switch (view->page) {
    case Page::kMain:
      DrawMain(snapshot, history, view, &canvas);
      break;
    case Page::kProcess:
      DrawProcessPage(snapshot, history, view, &canvas);
      break;
    case Page::kWork:
      DrawWorkPage(snapshot, history, view, &canvas);
      break;
    case Page::kHelp:
      DrawHelp(*view, &canvas);
      break;
  }
  DrawKeyLine(*view, !snapshot.runs.empty(), &canvas);
  return canvas;
}

}  // namespace utlz::top
