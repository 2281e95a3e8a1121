#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "collector/text/bound_text.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tools/top/screen/chart.h"
#include "tools/top/screen/draw_parts.h"

namespace utlz::top {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kGibibyte = 1024.0 * kMebibyte;

std::string MemoryCell(const std::optional<uint64_t>& bytes) {
  if (!bytes) return "-";
  const auto amount = static_cast<double>(*bytes);
  return amount < 10 * kGibibyte ? absl::StrFormat("%.0fM", amount / kMebibyte)
                                 : absl::StrFormat("%.1fG", amount / kGibibyte);
}

std::string AgeCell(const std::optional<double>& seconds) {
  if (!seconds) return "-";
  const auto whole = static_cast<int64_t>(*seconds);
  if (whole < 3600) return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
  if (whole < 100 * 3600) return absl::StrFormat("%dh%02d", whole / 3600, whole / 60 % 60);
  return absl::StrFormat("%dd", whole / 86400);
}

std::string GpusCell(const std::vector<unsigned>& gpus) {
  constexpr size_t kMost = 3;
  if (gpus.size() > kMost) return absl::StrCat(gpus.front(), "+", gpus.size() - 1);
  return absl::StrJoin(gpus, ",");
}

struct Column {
  const char* title;
  int width;  // to the right edge of its cells
  SortKey sort;
  bool needs_live;
};

constexpr std::array kColumns = {
    Column{"PID", 8, SortKey::kPid, false},        Column{"USER", 9, SortKey::kUser, false},
    Column{"GPU", 5, SortKey::kNatural, false},    Column{"GPU-MEM", 8, SortKey::kGpuMemory, false},
    Column{"STEP", 9, SortKey::kStep, true},       Column{"HFU", 7, SortKey::kHfu, true},
    Column{"MFU", 7, SortKey::kNatural, true},     Column{"CPU%", 6, SortKey::kCpu, false},
    Column{"MEM", 7, SortKey::kHostMemory, false}, Column{"TIME", 8, SortKey::kAge, false}};

std::string CellOf(const ProcessRow& row, size_t column) {
  const LiveSnapshot* const run = row.live.run;
  switch (column) {
    case 0:
      return absl::StrCat(row.process->pid);
    case 1:
      return row.process->user.empty() ? "-" : row.process->user.substr(0, 8);
    case 2:
      return GpusCell(row.gpus);
    case 3:
      return MemoryCell(row.memory_bytes);
    case 4:
      return run == nullptr ? "-" : StepText(*row.live.process);
    case 5:
      return run == nullptr ? "-"
                            : PercentOfShare(row.live.process->has_hfu(), row.live.process->hfu());
    case 6:
      return run == nullptr ? "-" : PercentOfShare(run->has_mfu(), run->mfu());
    case 7:
      return row.process->cpu_percent ? absl::StrFormat("%.0f", *row.process->cpu_percent) : "-";
    case 8:
      return MemoryCell(row.process->host_memory_bytes);
    default:
      return AgeCell(row.process->age_seconds);
  }
}

// What there is room for: a narrow screen leaves out the host's columns first.
bool IsShown(const Column& column, bool any_live, int width) {
  if (column.needs_live) return any_live;
  const bool of_host = column.sort == SortKey::kCpu || column.sort == SortKey::kHostMemory ||
                       column.sort == SortKey::kAge;
  return !of_host || !any_live || width >= 100;
}

void DrawProcess(int row, const ProcessRow& process, bool any_live, Style style, Canvas* canvas) {
  int column = 0;
  for (size_t i = 0; i < kColumns.size(); ++i) {
    if (!IsShown(kColumns[i], any_live, canvas->width())) continue;
    column += kColumns[i].width;
    canvas->PutRight(row, column, CellOf(process, i), style);
  }
  std::string name;
  if (process.depth > 0) {
    name = std::string(static_cast<size_t>(2 * std::min(process.depth - 1, 8)), ' ') +
           (canvas->unicode() ? "└ " : "` ");
  }
  absl::StrAppend(&name, process.process->command.empty() ? "-" : process.process->command);
  canvas->Put(row, column + 2, name, style);
}

void DrawProcessTitles(int row, bool any_live, const View& view, Canvas* canvas) {
  canvas->Fill(row, Style::kTitle);
  int column = 0;
  for (const Column& one : kColumns) {
    if (!IsShown(one, any_live, canvas->width())) continue;
    column += one.width;
    const bool sorts = view.sort == one.sort && !(one.needs_live && one.sort == SortKey::kNatural);
    const char* const sign = canvas->unicode() ? (view.reversed ? "▲" : "▼") : "*";
    canvas->PutRight(row, column, absl::StrCat(one.title, sorts ? sign : ""), Style::kTitle);
  }
  canvas->Put(row, column + 2, "COMMAND", Style::kTitle);
}

// Scrolled no further than needed to see the selected row.
size_t FirstRow(size_t first, size_t selected, size_t shown, size_t rows) {
  if (selected < first) first = selected;
  if (shown > 0 && selected >= first + shown) first = selected + 1 - shown;
  return rows <= shown ? 0 : std::min(first, rows - shown);
}

struct WorkColumn {
  const char* title;
  int width;
};
constexpr std::array kWorkColumns = {WorkColumn{"SHARE", 7}, WorkColumn{"TIME", 10},
                                     WorkColumn{"ROOF", 7}, WorkColumn{"FLOP/s", 8},
                                     WorkColumn{"B/s", 8}};
constexpr int kBoundWidth = 9;

std::string WorkCell(const WorkRow& work, size_t column) {
  const auto share = [](const std::optional<double>& value) {
    return PercentOfShare(value.has_value(), value.value_or(0));
  };
  switch (column) {
    case 0:
      return share(work.time_share);
    case 1:
      return TimeText(work.mean_time_ns);
    case 2:
      return share(work.roof_share);
    case 3:
      return CompactText(work.flops_per_second);
    default:
      return CompactText(work.dram_bytes_per_second);
  }
}

// "blocks.*.mlp (12) Linear" where there is room. The end of a layer's path tells it from others,
// and the file and line of a line.
std::string NameCell(const WorkRow& work, size_t columns) {
  const std::string name = EscapeForTerminal(work.name);
  switch (work.id.kind) {
    case WorkKind::kKernels:
      break;
    case WorkKind::kLayers: {
      const std::string with_class = absl::StrCat(name, " ", EscapeForTerminal(work.about));
      const bool fits = !work.about.empty() && ColumnsOf(with_class) < columns;
      return fits ? with_class : CutBeginning(name, columns - 1);
    }
    case WorkKind::kLines:
      return CutEnd(name, columns - 1);
  }
  return CutMiddle(name, columns);
}

int NameColumns(const Canvas& canvas) {
  int columns = canvas.width() - kBoundWidth - 2;
  for (const WorkColumn& column : kWorkColumns) columns -= column.width;
  return std::max(columns, 8);
}

void DrawWorkRow(int row, const WorkRow& work, Style style, Canvas* canvas) {
  const int name_columns = NameColumns(*canvas);
  canvas->Put(row, 0, NameCell(work, static_cast<size_t>(name_columns)), style, name_columns);
  int column = name_columns;
  for (size_t i = 0; i < kWorkColumns.size(); ++i) {
    column += kWorkColumns[i].width;
    canvas->PutRight(row, column, WorkCell(work, i), style);
  }
  canvas->Put(row, column + 2, ShortBoundText(work.bound), style, column + 2 + kBoundWidth);
}

void DrawWorkTitles(int row, const LiveSnapshot& run, WorkKind listed, Canvas* canvas) {
  canvas->Fill(row, Style::kTitle);
  canvas->Put(
      row, 0,
      absl::StrCat(absl::AsciiStrToUpper(NameOf(listed)), ", ",
                   run.span_ns() > 0 ? TimeText(static_cast<double>(run.span_ns())) : "so far"),
      Style::kTitle);
  int column = NameColumns(*canvas);
  for (const WorkColumn& one : kWorkColumns) {
    column += one.width;
    canvas->PutRight(row, column, one.title, Style::kTitle);
  }
  canvas->Put(row, column + 2, "BOUND", Style::kTitle);
}

struct CauseName {
  const char* name;
  const char* shown;
};
constexpr std::array kCauses = {CauseName{"useful", "useful"},
                                CauseName{"clock_below_maximum", "clock below maximum"},
                                CauseName{"other_arithmetic", "other arithmetic"},
                                CauseName{"memory_bound", "memory-bound"},
                                CauseName{"latency_bound", "latency-bound"},
                                CauseName{"compute_bound", "compute-bound"},
                                CauseName{"neither_bound", "bound by neither"},
                                CauseName{"uncounted", "without counters"},
                                CauseName{"communication", "communication"},
                                CauseName{"copies", "copies"},
                                CauseName{"idle_turnaround", "idle: turnaround"},
                                CauseName{"idle_launch", "idle: launch"},
                                CauseName{"idle_readback", "idle: readback"},
                                CauseName{"idle_input", "idle: input"},
                                CauseName{"idle_other", "idle: other"}};

struct ShownCause {
  std::string name;
  double share;
};

// In as many rows as it needs.
void DrawWhyNoWork(int row, int end, const LiveSnapshot& run, WorkKind listed, Canvas* canvas) {
  const bool said = listed != WorkKind::kKernels && !run.owners_reason().empty();
  std::string why =
      said ? EscapeForTerminal(run.owners_reason()) : "no kernel of it was traced yet";
  for (; !why.empty() && row < end; ++row) {
    size_t cut = static_cast<size_t>(canvas->width() - 2);
    if (why.size() > cut) {
      const size_t blank = why.rfind(' ', cut);
      if (blank != std::string::npos && blank > 0) cut = blank;
    }
    canvas->Put(row, 2, std::string_view(why).substr(0, cut), Style::kDim);
    why.erase(0, cut + (cut < why.size() && why[cut] == ' ' ? 1 : 0));
  }
}

// Of the device of the run with most kernels in the list: the one where it works.
const LiveDevice* MainDevice(const RunOfProcess& live) {
  if (live.run == nullptr || live.run->devices().empty()) return nullptr;
  for (const LiveKernel& kernel : live.run->kernels()) {
    const auto& pids = kernel.pids();
    if (std::find(pids.begin(), pids.end(), live.process->pid()) == pids.end()) continue;
    for (const LiveDevice& device : live.run->devices()) {
      if (device.uuid() == kernel.device_uuid()) return &device;
    }
  }
  return &live.run->devices(0);
}

std::vector<ShownCause> CausesOf(const RunOfProcess& live) {
  std::vector<ShownCause> causes;
  const LiveDevice* const device = MainDevice(live);
  if (device == nullptr) return causes;
  for (const LiveCause& cause : device->causes()) {
    const auto* const known =
        std::find_if(kCauses.begin(), kCauses.end(),
                     [&](const CauseName& candidate) { return cause.name() == candidate.name; });
    causes.push_back(
        {known == kCauses.end() ? EscapeForTerminal(cause.name()) : known->shown, cause.share()});
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  return causes;
}

Style StyleOfCause(const std::string& name) {
  if (name == "useful") return Style::kGood;
  return name.starts_with("idle") ? Style::kBad : Style::kPlain;
}

}  // namespace

int DrawProcesses(int row, int height, const std::vector<ProcessRow>& rows, bool any_live,
                  View* view, Canvas* canvas) {
  if (height <= 0) return row;
  DrawProcessTitles(row, any_live, *view, canvas);
  const auto shown = static_cast<size_t>(height - 1);
  const size_t selected = SelectedProcess(rows, *view);
  view->first_process = FirstRow(view->first_process, selected, shown, rows.size());
  for (size_t i = 0; i < shown && view->first_process + i < rows.size(); ++i) {
    const size_t index = view->first_process + i;
    const ProcessRow& process = rows[index];
    const bool tagged = view->tagged.contains(process.process->pid);
    const Style style = index == selected && view->focus == Focus::kProcesses ? Style::kSelected
                        : tagged                                              ? Style::kTagged
                                                                              : Style::kPlain;
    const int at = row + 1 + static_cast<int>(i);
    if (style == Style::kSelected) canvas->Fill(at, style);
    DrawProcess(at, process, any_live, style, canvas);
    if (index == selected && view->focus == Focus::kWork) canvas->Put(at, 0, ">", Style::kBold);
    if (tagged && style == Style::kSelected) canvas->Put(at, 0, "*", style);
  }
  if (rows.empty()) canvas->Put(row + 1, 2, "no processes to show", Style::kDim);
  return row + height;
}

int DrawWork(int row, int height, const RunOfProcess& live, bool focused, View* view,
             Canvas* canvas) {
  if (height <= 1 || live.run == nullptr) return row;
  DrawWorkTitles(row, *live.run, view->listed, canvas);
  const std::vector<WorkRow> rows = WorkRows(live, view->listed);
  const auto shown = static_cast<size_t>(height - 1);
  const size_t selected = SelectedWork(rows, *view);
  view->first_work = FirstRow(view->first_work, selected, shown, rows.size());
  for (size_t i = 0; i < shown && view->first_work + i < rows.size(); ++i) {
    const size_t index = view->first_work + i;
    const Style style = focused && index == selected ? Style::kSelected : Style::kPlain;
    const int at = row + 1 + static_cast<int>(i);
    if (style == Style::kSelected) canvas->Fill(at, style);
    DrawWorkRow(at, rows[index], style, canvas);
  }
  if (rows.empty()) DrawWhyNoWork(row + 1, row + height, *live.run, view->listed, canvas);
  return row + height;
}

int DrawCausesLine(int row, const RunOfProcess& live, Canvas* canvas) {
  const std::vector<ShownCause> causes = CausesOf(live);
  if (causes.empty()) return row;
  int column = canvas->Put(row, 0, "time goes to", Style::kBold) + 2;
  for (const ShownCause& cause : causes) {
    const std::string text = absl::StrFormat("%s %.0f%%", cause.name, 100 * cause.share);
    if (cause.share < 0.005 || column + ColumnsOnCanvas(text) > canvas->width()) break;
    column = canvas->Put(row, column, text, StyleOfCause(cause.name)) + 2;
  }
  return row + 1;
}

int DrawCauses(int row, int height, int end, const RunOfProcess& live, Canvas* canvas) {
  constexpr int kNameColumns = 21;
  const std::vector<ShownCause> causes = CausesOf(live);
  const int rows = std::min(height, static_cast<int>(causes.size()));
  for (int i = 0; i < rows; ++i) {
    const ShownCause& cause = causes[static_cast<size_t>(i)];
    canvas->Put(row + i, 0, cause.name, StyleOfCause(cause.name), kNameColumns);
    canvas->PutRight(row + i, kNameColumns + 7, PercentOfShare(true, cause.share));
    DrawBar(row + i, kNameColumns + 8, end - kNameColumns - 8,
            {cause.share, std::nullopt, StyleOfCause(cause.name)}, canvas);
  }
  return row + rows;
}

}  // namespace utlz::top
