// Whose the work is: layers, lines and operations as tables of the text report.
#include <algorithm>
#include <optional>
#include <vector>

#include "collector/normal_interval.h"
#include "collector/text/bound_text.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tools/report/known_value.h"
#include "tools/report/table.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

using Rows = google::protobuf::RepeatedPtrField<OwnerSummary>;

// From this share of all idle time on a row says what was before it.
constexpr double kIdleWorthARow = 0.02;

std::string RecoverableCell(const OwnerSummary& owner) {
  return TimeText(KnownValue(owner.has_estimated_savings_ns(), owner.estimated_savings_ns()), 2);
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

class OwnerTable {
 public:
  OwnerTable(const std::string& title, const OwnersSummary& owners, bool with_idle,
             const TextOptions& options)
      : owners_(owners),
        with_idle_(with_idle),
        options_(options),
        table_(Columns(title), options.columns) {}

  void Add(const std::string& name, const OwnerSummary& owner) {
    std::vector<std::string> cells = {
        name, TimeText(KnownValue(owner.has_time_ns(), owner.time_ns())),
        ShortPercentText(KnownValue(owner.has_time_share(), owner.time_share()))};
    if (with_idle_)
      cells.push_back(TimeText(KnownValue(owner.has_idle_before_ns(), owner.idle_before_ns())));
    for (std::string cell :
         {CompactText(KnownValue(owner.has_flops(), owner.flops())),
          BytesText(KnownValue(owner.has_dram_bytes(), owner.dram_bytes())),
          ShortPercentText(KnownValue(owner.has_hfu(), owner.hfu())),
          std::string(ShortBoundText(owner.bound())), RecoverableCell(owner), ErrorCell(owner)}) {
      cells.push_back(std::move(cell));
    }
    table_.AddRow(std::move(cells));
  }

  // "22 % of the idle time, mostly after train.py:88 step"
  void AddIdle(const OwnerSummary& owner) {
    const double idle_ns = owner.idle_before_ns();
    if (owners_.idle_time_ns() <= 0 || idle_ns < kIdleWorthARow * owners_.idle_time_ns()) return;
    std::string text = "    idle before it: " + PercentText(idle_ns / owners_.idle_time_ns());
    if (owner.has_idle_after()) text += ", mostly after " + EscapeForTerminal(owner.idle_after());
    std::vector<std::string> cells(with_idle_ ? 10 : 9);
    cells[0] = CutMiddle(text, table_.free_width());
    table_.AddRow(std::move(cells), Style::kFaint);
  }

  std::string Render(int left_out) const {
    if (table_.empty()) return {};
    std::string text = table_.Render(options_.color);
    if (left_out > 0) text += "… and " + CountText(left_out) + " more\n";
    return text;
  }

 private:
  std::vector<Table::Column> Columns(const std::string& title) const {
    std::vector<Table::Column> columns = {{title, 0, true}, {"time", 8}, {"share", 5}};
    if (with_idle_) columns.push_back({"idle before", 11});
    for (const Table::Column& column : std::vector<Table::Column>{
             {"FLOPs", 6}, {"bytes", 8}, {"HFU", 4}, {"bound", 7}, {"savings", 7}, {"±", 9}}) {
      columns.push_back(column);
    }
    return columns;
  }

  const OwnersSummary& owners_;
  bool with_idle_;
  const TextOptions& options_;
  Table table_;
};

// Forward and backward apart, of the same rows; nothing where no backward pass is known.
class PassTable {
 public:
  PassTable(const std::string& title, const OwnersSummary& owners, const TextOptions& options)
      : is_wanted_(owners.backward_share() > 0 || owners.recomputation_share() > 0),
        color_(options.color),
        table_({{title, 0, true},
                {"time", 9},
                {"forward", 9},
                {"backward", 9},
                {"recomputed", 10},
                {"inferred", 9}},
               options.columns) {}

  void Add(const std::string& name, const OwnerSummary& owner) {
    if (!is_wanted_ || !owner.has_time_ns()) return;
    table_.AddRow(
        {name, TimeText(owner.time_ns()), TimeText(ForwardTimeNs(owner)),
         TimeText(KnownValue(owner.has_backward_time_ns(), owner.backward_time_ns())),
         TimeText(KnownValue(owner.has_recomputation_time_ns(), owner.recomputation_time_ns())),
         TimeText(KnownValue(owner.has_inferred_time_ns(), owner.inferred_time_ns()))});
  }

  std::string Render() const { return table_.empty() ? "" : "\n" + table_.Render(color_); }

 private:
  bool is_wanted_;
  bool color_;
  Table table_;
};

// The rows with most time, in the order of the tree: those around a row have as much.
std::string RenderTree(const std::string& title, const OwnersSummary& owners, const Rows& rows,
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
  OwnerTable table(title, owners, true, options);
  PassTable passes("passes of " + title, owners, options);
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

std::string RenderLines(const OwnersSummary& owners, const TextOptions& options) {
  const Rows& rows = owners.lines();
  OwnerTable table("lines", owners, true, options);
  PassTable passes("passes of lines", owners, options);
  const int shown = std::min(rows.size(), static_cast<int>(options.top));
  for (int i = 0; i < shown; ++i) {
    const std::string name = EscapeForTerminal(rows.Get(i).name());
    table.Add(name, rows.Get(i));
    table.AddIdle(rows.Get(i));
    passes.Add(name, rows.Get(i));
  }
  return table.Render(rows.size() - shown) + passes.Render();
}

// Marked where no operation is known, only the kind of the kernels' work.
std::string RenderOperations(const OwnersSummary& owners, const TextOptions& options) {
  const Rows& rows = owners.operations();
  OwnerTable table("operations", owners, false, options);
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
  if (shown == 0) return {};
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

}  // namespace

std::string RenderCoverage(const OwnersSummary& owners, const TextOptions& options) {
  std::string text;
  if (owners.has_line_share()) {
    text = "Of the kernels' time " + PercentText(owners.line_share()) + " has a line, " +
           PercentText(owners.layer_share()) + " a layer, " + PercentText(owners.inferred_share()) +
           " an inferred one" + OtherOwnersText(owners) + "; " +
           PercentText(owners.ownerless_share()) + " has no owner." + PassText(owners);
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
  if (options.group_by == GroupBy::kOperation) return text + RenderOperations(owners, options);
  const bool has_layers = options.group_by == GroupBy::kLayer && owners.layers_size() > 0;
  if (owners.lines_size() == 0 && text.empty() && !has_layers) {
    return Wrap("No stacks of launches were recorded: utlz run --stacks=auto reads them.",
                options.columns, 2);
  }
  if (options.group_by == GroupBy::kLayer) {
    if (owners.repeated_layers_size() > 0) {
      text +=
          RenderTree("repeated layers summed", owners, owners.repeated_layers(), options) + "\n";
    }
    text += RenderTree("layers", owners, owners.layers(), options);
  } else {
    text += RenderLines(owners, options);
  }
  return text;
}

}  // namespace utlz
