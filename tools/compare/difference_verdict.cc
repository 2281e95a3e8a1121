#include "tools/compare/difference_verdict.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "collector/normal_interval.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tools/compare/change_text.h"

namespace utlz {
namespace {

constexpr size_t kNameWidth = 60;
// A kernel that explains less of a change than this is not named in the verdict.
constexpr double kLeastNamedShare = 0.1;

bool IsReal(const QuantityChange* quantity) {
  return quantity != nullptr && (quantity->change.verdict == Verdict::kDecrease ||
                                 quantity->change.verdict == Verdict::kIncrease);
}

// The mean step, unless a few slow steps blur it and the median shows a change.
const QuantityChange* Headline(const Difference& difference) {
  const QuantityChange* median = difference.FindQuantity("step_time_median_ns");
  if (IsReal(median) && !IsReal(difference.FindQuantity("step_time_ns"))) return median;
  for (const char* name : {"step_time_ns", "wall_ns", "kernel_time_ns"}) {
    if (const QuantityChange* found = difference.FindQuantity(name)) return found;
  }
  return nullptr;
}

std::string Subject(const QuantityChange& headline) {
  if (headline.name == "step_time_ns") return "A step";
  if (headline.name == "step_time_median_ns") return "The median step";
  if (headline.name == "wall_ns") return "The run";
  return "All kernels' time";
}

// The kernel that moved most in the direction of the whole, if it explains a good part of it.
std::string MainKernel(const Difference& difference, const Change& whole) {
  for (const KernelChange& kernel : difference.kernels) {
    const std::optional<double> delta = kernel.time_ns.Delta();
    if (kernel.time_ns.verdict != whole.verdict || !delta) continue;
    const double share = *delta / whole.Delta().value_or(0);
    if (!(share >= kLeastNamedShare)) return "";
    const std::string& name = kernel.name_after;
    return std::string("; ") + (share >= 0.5 ? "most" : NumberText(share, "share")) + " of it is " +
           TerminalName(name, kNameWidth) + " (" + SignedNumberText(delta, "ns") + ")";
  }
  return "";
}

// "38.2 %", and where that is more than people read so, "8,083 times".
std::string HowMuchText(double relative) {
  constexpr double kMostPerCent = 10;
  return relative < kMostPerCent ? NumberText(relative, "share")
                                 : RoundCountText(relative) + " times";
}

std::string NoDifferenceText(const Difference& difference, const QuantityChange& headline) {
  const Change& change = headline.change;
  const double within_ns = change.error.value_or(0) * kNormal95;
  std::string text = Subject(headline) + " takes " + NumberText(change.after, "ns") +
                     " after and " + NumberText(change.before, "ns") + " before: ";
  // Among many numbers one lies outside of its interval by chance: a change is more than that.
  const std::optional<double> delta_ns = change.Delta();
  if (std::abs(delta_ns.value_or(0)) > within_ns) {
    text += SignedNumberText(delta_ns, "ns") + " ± " + NumberText(within_ns, "ns") +
            ", too near its error to call it a change";
  } else {
    text += "no difference within ± " + NumberText(within_ns, "ns");
  }
  text += difference.HasDifference() ? ", though parts of it changed." : ".";
  return text;
}

void AddIfDifferent(const std::string& what, const std::set<std::string>& before,
                    const std::set<std::string>& after, std::vector<std::string>& caveats) {
  if (before == after) return;
  const auto join = [](const std::set<std::string>& values) {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
    return text;
  };
  caveats.push_back(what + " differ: " + join(before) + " before, " + join(after) + " after.");
}

template <typename Read>
std::set<std::string> Values(const std::vector<Summary>& runs, Read read) {
  std::set<std::string> values;
  for (const Summary& run : runs) values.insert(read(run));
  return values;
}

bool AnyUnfinished(const std::vector<Summary>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const Summary& run) {
    return run.run().has_finished() && !run.run().finished();
  });
}

bool AnyFailed(const std::vector<Summary>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const Summary& run) {
    return run.run().exit_status() != 0 || run.run().signal() != 0;
  });
}

void AddIfFailed(const std::vector<Summary>& runs, const std::string& side,
                 std::vector<std::string>& caveats) {
  if (AnyFailed(runs)) {
    caveats.push_back("A run " + side + " failed; its times may not be those of the whole job.");
  }
}

}  // namespace

std::string DifferenceVerdict(const Difference& difference) {
  if (difference.runs_before == 0 || difference.runs_after == 0) {
    return "Nothing to compare: a side holds no run.";
  }
  const QuantityChange* headline = Headline(difference);
  if (headline == nullptr) return "The two sides have no time in common that could be compared.";
  const Change& change = headline->change;
  if (change.verdict == Verdict::kNoDifference) return NoDifferenceText(difference, *headline);
  const std::optional<double> relative = change.RelativeDelta();
  const bool faster = change.verdict == Verdict::kDecrease;
  return Subject(*headline) + " takes " + NumberText(change.after, "ns") + " instead of " +
         NumberText(change.before, "ns") + ": " + HowMuchText(std::abs(relative.value_or(0))) +
         (faster ? " less" : " more") + MainKernel(difference, change) + ".";
}

std::string DevicesText(const Summary& run) {
  std::map<std::string, int> counts;
  for (const DeviceSummary& device : run.devices()) {
    ++counts[device.name().empty() ? device.chip() : device.name()];
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    if (!text.empty()) text += " + ";
    if (count > 1) text += std::to_string(count) + " × ";
    text += name.empty() ? "an unknown GPU" : TerminalName(name, kNameWidth);
  }
  return text.empty() ? "no GPU" : text;
}

std::string SourceText(CounterSource source) {
  std::string name = CounterSource_IsValid(source) ? CounterSource_Name(source) : "SOURCE_UNKNOWN";
  name.erase(0, std::string_view("SOURCE_").size());
  std::transform(name.begin(), name.end(), name.begin(), [](char letter) {
    return letter == '_' ? '_' : static_cast<char>(letter | 0x20);
  });
  return name;
}

std::vector<std::string> Caveats(const std::vector<Summary>& before,
                                 const std::vector<Summary>& after) {
  std::vector<std::string> caveats;
  if (before.empty() || after.empty()) return caveats;
  AddIfDifferent("The GPUs", Values(before, DevicesText), Values(after, DevicesText), caveats);
  const auto source = [](const Summary& run) { return SourceText(run.capture().counter_source()); };
  AddIfDifferent("The sources of the counters", Values(before, source), Values(after, source),
                 caveats);
  if (AnyUnfinished(before) || AnyUnfinished(after)) {
    caveats.push_back("A profile ends before its run did; its totals are not the run's.");
  }
  AddIfFailed(before, "before", caveats);
  AddIfFailed(after, "after", caveats);
  return caveats;
}

}  // namespace utlz
