#include "collector/diagnosis/finding_owners.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "collector/layer_pattern.h"
#include "collector/owners/graph_owners.h"
#include "collector/owners/stack_owners.h"
#include "collector/text/number_text.h"
#include "proto/valid_string.h"

namespace utlz {
namespace {

// What ends these gaps is a launch that came late.
const std::set<std::string_view> kRulesOfGaps = {"launch_bound",   "synchronization",
                                                 "input_pipeline", "gaps_between_steps",
                                                 "first_calls",    "host_work"};

// "blocks.*.attn, model.py:41 Block.forward"
std::string OwnerText(uint32_t stack, StackOwners* owners) {
  const LayerOwner layer = owners->LayerOf(stack);
  std::string text = layer.kind == "layer" ? PatternOf(layer.path, layer.has_numbered_names) : "";
  if (layer.kind == "layer" && text.empty()) text = layer.model;
  if (const StackFrame* line = owners->LineOf(stack)) {
    text += (text.empty() ? "" : ", ") + LineName(*line);
  }
  return ValidText(text);
}

// Of an owner that was concluded from the order of kernels.
constexpr char kInferred[] = " (inferred)";

// From where most of a kernel's time was launched, and how much of it. Empty where not known.
std::map<uint32_t, std::string> OwnersOfKernels(const RunState& state) {
  StackOwners of_stacks(state.stacks);
  std::map<uint32_t, std::map<std::string, double>> times;
  state.stack_work.ForEachSite([&](uint32_t kernel, uint32_t stack, const StackWork::Sums& sums) {
    times[kernel][OwnerText(stack, &of_stacks)] += static_cast<double>(sums.time_ns);
  });
  // What a graph launched is whose its nodes are, as far as that was concluded.
  for (const MovedWork& work : InferGraphOwners(state).work) {
    if (work.part != kNoPart) continue;
    const auto time_ns = static_cast<double>(work.time_ns);
    if (work.launched_from != kNoStack) {
      times[work.kernel][OwnerText(work.launched_from, &of_stacks)] -= time_ns;
    }
    times[work.kernel][OwnerText(work.stack, &of_stacks) + (work.seen ? "" : kInferred)] += time_ns;
  }
  std::map<uint32_t, std::string> owners;
  for (const auto& entry : times) {
    const auto most =
        std::max_element(entry.second.begin(), entry.second.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto all_ns = static_cast<double>(state.kernels[entry.first].durations.sum_ns());
    if (most->first.empty() || all_ns <= 0) continue;
    owners[entry.first] = most->first + " (" + PercentText(most->second / all_ns) + " of it)";
  }
  return owners;
}

// The kernel with the longest name in the text: a name may be part of another.
const KernelSummary* KernelNamedIn(const std::string& text, const Summary& summary) {
  const KernelSummary* found = nullptr;
  for (const KernelSummary& kernel : summary.kernels()) {
    const std::string& name = kernel.short_name();
    if (name.empty() || text.find(name) == std::string::npos) continue;
    if (found == nullptr || name.size() > found->short_name().size()) found = &kernel;
  }
  return found;
}

// ", meanwhile in data.py:41 Pictures.__getitem__: 63.0 % of what was sampled"
std::string MeanwhileText(const OwnerSummary& line) {
  if (line.idle_frames().empty() || line.sampled_idle_ns() <= 0) return "";
  return ", meanwhile in " + line.idle_frames(0) + ": " +
         PercentText(line.idle_frame_ns(0) / line.sampled_idle_ns()) + " of what was sampled";
}

std::string WaitText(const OwnersSummary& owners) {
  const OwnerSummary* most = nullptr;
  for (const OwnerSummary& line : owners.lines()) {
    if (line.kind() != "line") continue;
    if (most == nullptr || line.idle_before_ns() > most->idle_before_ns()) most = &line;
  }
  if (most == nullptr || most->idle_before_ns() <= 0 || owners.idle_time_ns() <= 0) return "";
  std::string text = "; " + PercentText(most->idle_before_ns() / owners.idle_time_ns()) +
                     " of the idle time is before " + most->name();
  if (most->has_idle_after()) {
    text += ", mostly after " +
            (most->idle_after() == most->name() ? "the same line" : most->idle_after());
  }
  return text + MeanwhileText(*most);
}

}  // namespace

void NameOwnersInFindings(const RunState& state, const Analysis& analysis, Summary* summary) {
  if (state.stack_work.empty()) return;
  std::optional<std::map<uint32_t, std::string>> owners;  // takes time: where one is asked for
  const std::string wait = WaitText(summary->owners());
  for (FindingSummary& finding : *summary->mutable_findings()) {
    if (kRulesOfGaps.contains(finding.rule())) {
      finding.set_evidence(finding.evidence() + wait);
      continue;
    }
    const KernelSummary* kernel = KernelNamedIn(finding.evidence(), *summary);
    if (kernel == nullptr || kernel->id() == 0 || kernel->id() > analysis.rows.size()) continue;
    if (!owners.has_value()) owners = OwnersOfKernels(state);
    const auto owner = owners->find(analysis.rows[kernel->id() - 1].kernel);
    if (owner == owners->end()) continue;
    finding.set_evidence(finding.evidence() + "; launched by " + owner->second);
  }
}

}  // namespace utlz
