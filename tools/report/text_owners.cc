// Whose the work is: layers, lines and operations as tables of the text report.
#include <algorithm>
#include <optional>
#include <vector>

#include "collector/normal_interval.h"
#include "collector/text/bound_text.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "collector/text/wrapped_text.h"
#include "tools/report/known_value.h"
#include "tools/report/table.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

using Rows = google::protobuf::RepeatedPtrField<OwnerSummary>;

// From this share of all idle time on a row says what was before it.
constexpr double kIdleWorthARow = 0.02;
// Of what a launching thread was in meanwhile.
constexpr double kIdleFrameWorthARow = 0.03;
constexpr int kMostIdleFrames = 4;

// So much of a row's time has FLOPs that are not known: the rest is no figure of the row.
constexpr double kMostWithoutFlops = 0.5;
// From this share of its time on a row says that it is not of the steps.
constexpr double kOutsideOfSteps = 0.5;

std::string RecoverableCell(const OwnerSummary& owner) {
  return TimeText(KnownValue(owner.has_estimated_savings_ns(), owner.estimated_savings_ns()), 2);
}

std::string FlopsCell(const OwnerSummary& owner) {
  const bool known =
      owner.has_flops() && owner.time_without_flops_ns() <= kMostWithoutFlops * owner.time_ns();
  return CompactText(KnownValue(known, owner.flops()));
}

// `train.py:88 Trainer.step`: the place tells lines apart, so that of what does not fit the
// beginning of the function goes first.
std::string LineCell(const OwnerSummary& owner, size_t columns) {
  constexpr size_t kFewestOfFunction = 4;
  const std::string name = EscapeForTerminal(owner.name());
  const std::string function = " " + EscapeForTerminal(owner.function());
  if (ColumnsOf(name) <= columns) return name;
  if (!owner.has_function() || !name.ends_with(function)) return CutMiddle(name, columns);
  const std::string place = name.substr(0, name.size() - function.size());
  if (ColumnsOf(place) > columns) return CutBeginning(place, columns);
  const size_t rest = columns - ColumnsOf(place);
  if (rest <= kFewestOfFunction) return place;
  return place + " " + CutBeginning(function.substr(1), rest - 1);
}

// Of a layer or a part of one, what is in neither of the two other passes. Lines launch optimizers
// and losses too, which are in no pass.
std::optional<double> ForwardTimeNs(const OwnerSummary& owner) {
  if (!owner.has_model()) return std::nullopt;
  return owner.time_ns() - owner.backward_time_ns() - owner.recomputation_time_ns();
}

std::string ErrorCell(const OwnerSummary& owner) {
  if (!owner.has_estimated_savings_error_ns()) return "";
  return "± " + TimeText(kNormal95 * owner.estimated_savings_error_ns(), 2);
}

// Of rows whose names are long paths.
constexpr char kInferredSign[] = " ~";

// A backward pass has a few launches that are, everywhere.
bool IsMostlyInferred(const OwnerSummary& owner) {
  return owner.inferred_time_ns() > owner.time_ns() / 2;
}

bool IsPart(const OwnerSummary& owner) {
  return owner.kind() == "repeated_part" || owner.kind() == "part";
}

bool HasLongName(const OwnerSummary& owner) { return owner.has_instances() || IsPart(owner); }

// The index of the row around one; negative where there is none. Rows stand after those around
// them.
int Around(const Rows& rows, int index) {
  const OwnerSummary& owner = rows.Get(index);
  return owner.has_parent() && owner.parent() < index ? owner.parent() : -1;
}

size_t DepthOf(const Rows& rows, int index) {
  size_t depth = 0;
  while ((index = Around(rows, index)) >= 0) ++depth;
  return depth;
}

// Of compiled code: parts of graphs are in no layer.
bool IsPartOfLayer(const Rows& rows, int index) {
  const int around = Around(rows, index);
  if (!IsPart(rows.Get(index)) || around < 0) return false;
  return !IsPart(rows.Get(around)) || Around(rows, around) >= 0;
}

// The end of a name that tells it from those beside it: the last part of a path; of an operation in
// a part of a layer the operation.
std::string EndOfName(const OwnerSummary& owner, bool is_in_part) {
  const std::string& name = owner.name();
  if (!IsPart(owner)) return name.substr(name.rfind('.') + 1);
  const size_t end = is_in_part ? name.find(") ") : std::string::npos;
  return end == std::string::npos ? name : name.substr(end + 2);
}

// Deeper in the more parts there are. Of layers that are summed the whole path. Of what repeats how
// often.
std::string TreeName(const Rows& rows, int index) {
  const OwnerSummary& owner = rows.Get(index);
  const bool is_of_layer = IsPartOfLayer(rows, index);
  const size_t depth = owner.has_instances() && !is_of_layer ? 0 : DepthOf(rows, index);
  const bool is_in_part = is_of_layer && IsPart(rows.Get(Around(rows, index)));
  std::string name = std::string(2 * depth, ' ');
  name += EscapeForTerminal(depth > 1 || is_in_part ? EndOfName(owner, is_in_part) : owner.name());
  if (owner.instances() > 1 && !is_in_part) name += " ×" + std::to_string(owner.instances());
  if (!IsMostlyInferred(owner)) return name;
  return name + (HasLongName(owner) ? kInferredSign : " (inferred)");
}

bool IsOfSteps(const Summary& summary) { return summary.steady_state().scope() == "steps"; }

// What a column of OwnerTable shows, and which of them narrow tables go without: the higher, the
// sooner.
struct OwnerColumn {
  Table::Column column;
  int goes_first = 0;
};

const std::vector<OwnerColumn>& OwnerColumns() {
  static const std::vector<OwnerColumn> columns = {
      {{"time", 8}},   {{"share", 5}},    {{"idle", 8}},    {{"FLOPs", 6}}, {{"bytes", 8}, 1},
      {{"HFU", 4}, 4}, {{"bound", 7}, 3}, {{"savings", 7}}, {{"±", 8}, 2}};
  return columns;
}
constexpr size_t kIdleColumn = 2;

class OwnerTable {
 public:
  OwnerTable(const std::string& title, const Summary& summary, bool with_idle,
             const TextOptions& options)
      : summary_(summary),
        owners_(summary.owners()),
        with_idle_(with_idle),
        options_(options),
        table_(Columns(title), options.columns) {}

  size_t name_columns() const { return table_.free_width(); }

  void Add(const std::string& name, const OwnerSummary& owner) {
    const std::vector<std::string> all = {
        TimeText(KnownValue(owner.has_time_ns(), owner.time_ns())),
        ShortPercentText(KnownValue(owner.has_time_share(), owner.time_share())),
        TimeText(KnownValue(owner.has_idle_before_ns(), owner.idle_before_ns())),
        FlopsCell(owner),
        BytesText(KnownValue(owner.has_dram_bytes(), owner.dram_bytes())),
        ShortPercentText(KnownValue(owner.has_hfu(), owner.hfu())),
        std::string(ShortBoundText(owner.bound())),
        RecoverableCell(owner),
        ErrorCell(owner)};
    std::vector<std::string> cells = {name};
    for (const size_t column : shown_) cells.push_back(all[column]);
    table_.AddRow(std::move(cells));
    AddOutsideOfSteps(owner);
  }

  // "    22.0 % of the idle time is before it, mostly after train.py:88 step"
  void AddIdle(const OwnerSummary& owner) {
    const double idle_ns = owner.idle_before_ns();
    if (owners_.idle_time_ns() <= 0 || idle_ns < kIdleWorthARow * owners_.idle_time_ns()) return;
    std::string text =
        "    " + PercentText(idle_ns / owners_.idle_time_ns()) + " of the idle time is before it";
    if (owner.has_idle_after()) text += ", mostly after " + BeforeText(owner);
    table_.AddNote(text);
    AddIdleFrames(owner);
  }

  std::string Render(int left_out) const {
    if (table_.empty()) return {};
    std::string text = table_.Render(options_.color);
    if (left_out > 0) text += "… and " + CountText(left_out) + " more\n";
    return text + Wrap(ScopeText(), options_.columns, 2);
  }

 private:
  static std::string BeforeText(const OwnerSummary& owner) {
    if (owner.idle_after() == owner.name()) return "the same line";
    if (owner.idle_after() == "(no line)") return "launches whose line is not known";
    return EscapeForTerminal(owner.idle_after());
  }

  // "    meanwhile, by samples in 97.0 % of it:" and "      63.0 % in data.py:41 Data.__getitem__"
  void AddIdleFrames(const OwnerSummary& owner) {
    const double sampled_ns = owner.sampled_idle_ns();
    if (sampled_ns <= 0 || sampled_ns < kIdleWorthARow * owners_.idle_time_ns()) return;
    table_.AddNote("    meanwhile, by samples in " +
                   PercentText(sampled_ns / owner.own_idle_before_ns()) + " of it:");
    for (int i = 0; i < std::min(owner.idle_frames_size(), kMostIdleFrames); ++i) {
      const double share = owner.idle_frame_ns(i) / sampled_ns;
      if (share < kIdleFrameWorthARow) break;
      table_.AddNote("      " + PercentText(share) + " in " +
                     EscapeForTerminal(owner.idle_frames(i)));
    }
  }

  void AddOutsideOfSteps(const OwnerSummary& owner) {
    const double outside = 1 - owner.steady_state_share();
    if (!IsOfSteps(summary_) || !owner.has_steady_state_share() || outside < kOutsideOfSteps)
      return;
    table_.AddNote("    " + PercentText(outside) + " of its time is outside of the steps");
  }

  // Idle time is that of the steps alone: what stands beside it is not.
  std::string ScopeText() const {
    if (!IsOfSteps(summary_)) return {};
    return with_idle_ ? "in the whole run; idle: the time before it, in the steps alone"
                      : "in the whole run";
  }

  std::vector<Table::Column> Columns(const std::string& title) {
    constexpr size_t kFewestOfName = 22;
    for (size_t i = 0; i < OwnerColumns().size(); ++i) {
      if (with_idle_ || i != kIdleColumn) shown_.push_back(i);
    }
    const auto goes_first = [](size_t a, size_t b) {
      return OwnerColumns()[a].goes_first < OwnerColumns()[b].goes_first;
    };
    while (WidthOfShown() + kFewestOfName > options_.columns) {
      const auto next = std::max_element(shown_.begin(), shown_.end(), goes_first);
      if (OwnerColumns()[*next].goes_first == 0) break;
      shown_.erase(next);
    }
    std::vector<Table::Column> columns = {{title, 0, true}};
    for (const size_t column : shown_) columns.push_back(OwnerColumns()[column].column);
    return columns;
  }

  size_t WidthOfShown() const {
    size_t width = 0;
    for (const size_t column : shown_) width += OwnerColumns()[column].column.width + 1;
    return width;
  }

  const Summary& summary_;
  const OwnersSummary& owners_;
  bool with_idle_;
  const TextOptions& options_;
  std::vector<size_t> shown_;  // of OwnerColumns()
  Table table_;
};

// Forward and backward apart, of the rows that have both; nothing where no backward pass is known.
class PassTable {
 public:
  PassTable(const std::string& title, const OwnersSummary& owners, bool with_forward,
            const TextOptions& options)
      : owners_(owners),
        with_forward_(with_forward),
        color_(options.color),
        table_(Columns(title), options.columns) {}

  size_t name_columns() const { return table_.free_width(); }

  void Add(const std::string& name, const OwnerSummary& owner) {
    const bool has_passes = owner.backward_time_ns() > 0 || owner.recomputation_time_ns() > 0;
    if (!has_passes || !owner.has_time_ns()) return;
    std::vector<std::string> cells = {name, TimeText(owner.time_ns())};
    if (with_forward_) cells.push_back(TimeText(ForwardTimeNs(owner)));
    cells.push_back(TimeText(KnownValue(owner.has_backward_time_ns(), owner.backward_time_ns())));
    if (WithRecomputed()) {
      cells.push_back(
          TimeText(KnownValue(owner.has_recomputation_time_ns(), owner.recomputation_time_ns())));
    }
    cells.push_back(TimeText(KnownValue(owner.has_inferred_time_ns(), owner.inferred_time_ns())));
    table_.AddRow(std::move(cells));
  }

  std::string Render() const { return table_.empty() ? "" : "\n" + table_.Render(color_); }

 private:
  bool WithRecomputed() const { return owners_.recomputation_share() > 0; }

  std::vector<Table::Column> Columns(const std::string& title) const {
    std::vector<Table::Column> columns = {{title, 0, true}, {"time", 9}};
    if (with_forward_) columns.push_back({"forward", 9});
    columns.push_back({"backward", 9});
    if (WithRecomputed()) columns.push_back({"recomputed", 10});
    columns.push_back({"inferred", 9});
    return columns;
  }

  const OwnersSummary& owners_;
  bool with_forward_;
  bool color_;
  Table table_;
};

// The rows with most time, in the order of the tree: those around a row have as much.
std::string RenderTree(const std::string& title, const Summary& summary, const Rows& rows,
                       const TextOptions& options) {
  std::vector<int> shown(static_cast<size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) shown[static_cast<size_t>(i)] = i;
  const auto weight = [&rows](int i) {
    return rows.Get(i).time_ns() + rows.Get(i).idle_before_ns();
  };
  std::stable_sort(shown.begin(), shown.end(), [&](int a, int b) { return weight(a) > weight(b); });
  const size_t left_out = shown.size() > options.top ? shown.size() - options.top : 0;
  shown.resize(shown.size() - left_out);
  std::sort(shown.begin(), shown.end());
  OwnerTable table(title, summary, true, options);
  PassTable passes("passes of " + title, summary.owners(), true, options);
  bool any_sign = false;
  for (const int i : shown) {
    table.Add(TreeName(rows, i), rows.Get(i));
    passes.Add(TreeName(rows, i), rows.Get(i));
    any_sign = any_sign || (HasLongName(rows.Get(i)) && IsMostlyInferred(rows.Get(i)));
  }
  std::string text = table.Render(static_cast<int>(left_out));
  if (any_sign) text += "~ mostly inferred, not seen\n";
  return text + passes.Render();
}

std::string RenderLines(const Summary& summary, const TextOptions& options) {
  const Rows& rows = summary.owners().lines();
  OwnerTable table("lines", summary, true, options);
  // Lines launch optimizers and losses too, which are in no pass: what is not backward has no name.
  PassTable passes("passes of lines", summary.owners(), false, options);
  const int shown = std::min(rows.size(), static_cast<int>(options.top));
  for (int i = 0; i < shown; ++i) {
    table.Add(LineCell(rows.Get(i), table.name_columns()), rows.Get(i));
    table.AddIdle(rows.Get(i));
    passes.Add(LineCell(rows.Get(i), passes.name_columns()), rows.Get(i));
  }
  return table.Render(rows.size() - shown) + passes.Render();
}

// Marked where no operation is known, only the kind of the kernels' work.
std::string RenderOperations(const Summary& summary, const TextOptions& options) {
  const Rows& rows = summary.owners().operations();
  OwnerTable table("operations", summary, false, options);
  const int shown = std::min(rows.size(), static_cast<int>(options.top));
  bool any_family = false, any_named = false, any_compiled = false;
  for (int i = 0; i < shown; ++i) {
    const bool is_family = rows.Get(i).origin() == "family";
    const bool is_compiled = rows.Get(i).origin() == "compiled_code";
    (is_family ? any_family : is_compiled ? any_compiled : any_named) = true;
    table.Add(
        (is_family ? "(" : "") + EscapeForTerminal(rows.Get(i).name()) + (is_family ? ")" : ""),
        rows.Get(i));
  }
  if (shown == 0) return "No kernels were recorded, and so no operations.\n";
  std::string note;
  if (any_named || any_compiled) {
    note = std::string("Operations are those that a compiler wrote ") +
           (any_compiled ? "beside the launches" : "") + (any_compiled && any_named ? " or " : "") +
           (any_named ? "into the kernels' names" : "") + ".";
  }
  if (any_family) {
    note += (note.empty() ? "" : " ") +
            std::string("In brackets: the family of kernels whose operations are not known.");
  }
  return table.Render(rows.size() - shown) + Wrap(note, options.columns, 2);
}

// Nothing where no backward pass is known.
std::string PassText(const OwnersSummary& owners) {
  std::string text;
  const auto add = [&text](double share, const std::string& what) {
    if (share > 0) text += (text.empty() ? " " : ", ") + PercentText(share) + " " + what;
  };
  add(owners.backward_share(), "are backward passes");
  add(owners.recomputation_share(), "forward passes computed again for them");
  return text.empty() ? text : text + ".";
}

// What belongs to others than layers; nothing where nothing does.
std::string OtherOwnersText(const OwnersSummary& owners) {
  std::string text;
  const auto add = [&text](double share, const std::string& what) {
    if (share <= 0) return;
    text += text.empty() ? "; " + PercentText(share) + " is" : ", " + PercentText(share);
    text += " of " + what;
  };
  add(owners.function_share(), "functions outside of layers");
  add(owners.optimizer_share(), "optimizers");
  add(owners.autotuning_share(), "autotuning");
  return text;
}

// What compilers launch to try kernels, before the first step, has no owner, and is none of the
// steps'.
std::string CoverageOfStepsText(const OwnersSummary& owners) {
  if (!owners.has_steady_state_line_share()) return {};
  return " In the steps alone " + PercentText(owners.steady_state_line_share()) + " has a line, " +
         PercentText(owners.steady_state_layer_share()) + " a layer, " +
         PercentText(owners.steady_state_inferred_share()) + " an inferred one; " +
         PercentText(owners.steady_state_ownerless_share()) + " has no owner.";
}

}  // namespace

std::string RenderCoverage(const OwnersSummary& owners, const TextOptions& options) {
  std::string text;
  if (owners.has_line_share()) {
    text = "Of the kernels' time " + PercentText(owners.line_share()) + " has a line, " +
           PercentText(owners.layer_share()) + " a layer, " + PercentText(owners.inferred_share()) +
           " an inferred one" + OtherOwnersText(owners) + "; " +
           PercentText(owners.ownerless_share()) + " has no owner." + PassText(owners) +
           CoverageOfStepsText(owners);
  }
  if (owners.has_note()) {
    text +=
        (text.empty() ? "" : " ") + std::string("Note: ") + EscapeForTerminal(owners.note()) + ".";
  }
  return text.empty() ? text : Wrap(text, options.columns, 2);
}

std::string RenderOwners(const Summary& summary, const TextOptions& options) {
  const OwnersSummary& owners = summary.owners();
  std::string text = RenderCoverage(owners, options);
  if (options.group_by == GroupBy::kOperation) return text + RenderOperations(summary, options);
  const bool has_layers = options.group_by == GroupBy::kLayer && owners.layers_size() > 0;
  if (owners.lines_size() == 0 && text.empty() && !has_layers) {
    return Wrap("No stacks of launches were recorded: utlz run --stacks=auto reads them.",
                options.columns, 2);
  }
  if (options.group_by == GroupBy::kLayer) {
    if (owners.repeated_layers_size() > 0) {
      text +=
          RenderTree("repeated layers summed", summary, owners.repeated_layers(), options) + "\n";
    }
    text += RenderTree("layers", summary, owners.layers(), options);
  } else {
    text += RenderLines(summary, options);
  }
  return text;
}

}  // namespace utlz
