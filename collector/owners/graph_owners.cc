#include "collector/owners/graph_owners.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "collector/kernel_names/name_without_tiles.h"
#include "collector/owners/child_graphs.h"
#include "collector/owners/repeated_part.h"
#include "collector/owners/sequence_match.h"
#include "collector/owners/stack_owners.h"

namespace utlz {
namespace {

// Sites that are looked at to find paths, and items that are compared to find what repeats: they
// bound the time of a summary, whatever a run holds.
constexpr size_t kMatchSteps = 1u << 22;
constexpr size_t kRepeatSteps = 1u << 24;
// Names are long: kernels whose class is looked at.
constexpr size_t kMostClassified = 2048;
constexpr size_t kMostParts = 1024;

// Numbers for layer, pass and line of stacks: the same for stacks of one owner.
class OwnerNumbers {
 public:
  explicit OwnerNumbers(const RunState& state) : owners_(state.stacks) {}

  uint32_t Of(uint32_t stack) {
    if (stack == kNoStack) return 0;
    const auto [known, is_new] = of_stacks_.try_emplace(stack, 0);
    if (is_new) known->second = Number(stack);
    return known->second;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string, LaunchPass, const StackFrame*>;

  uint32_t Number(uint32_t stack) {
    const LayerOwner layer = owners_.LayerOf(stack);
    Key key(layer.kind, layer.model, layer.path, layer.pass, owners_.LineOf(stack));
    return numbers_.try_emplace(std::move(key), static_cast<uint32_t>(numbers_.size() + 1))
        .first->second;
  }

  StackOwners owners_;
  std::unordered_map<uint32_t, uint32_t> of_stacks_;
  std::map<Key, uint32_t> numbers_;
};

// Equal for kernels that differ by tile and grid alone. Others than the first kMostClassified have
// a class of their own.
class KernelClasses {
 public:
  explicit KernelClasses(const KernelTable& kernels) : kernels_(kernels) {}

  uint32_t Of(uint32_t kernel) {
    const auto [known, is_new] = of_kernels_.try_emplace(kernel, 0);
    if (is_new) known->second = Number(kernel);
    return known->second;
  }

 private:
  uint32_t Number(uint32_t kernel) {
    const std::string& name = kernels_[kernel].mangled_name;
    std::string text = of_kernels_.size() > kMostClassified || kernels_[kernel].other
                           ? "kernel " + std::to_string(kernel)
                           : NameOf(FamilyOf(name)) + (" " + NameWithoutTiles(name));
    return numbers_.try_emplace(std::move(text), static_cast<uint32_t>(numbers_.size()))
        .first->second;
  }

  const KernelTable& kernels_;
  std::unordered_map<uint32_t, uint32_t> of_kernels_;
  std::map<std::string, uint32_t> numbers_;
};

class Inference {
 public:
  explicit Inference(const RunState& state)
      : state_(state), classes_(state.kernels), owner_numbers_(state) {}

  GraphOwners Infer() {
    const std::vector<std::vector<uint32_t>> graphs = state_.graph_nodes.Graphs();
    of_nodes_.resize(state_.graph_nodes.nodes().size());
    for (const std::vector<uint32_t>& graph : graphs) {
      if (!WasSeen(graph) && !FillChildGraphs(graph) && !Match(graph)) Fold(graph);
    }
    for (size_t i = 0; i < of_nodes_.size(); ++i) {
      const uint32_t captured = state_.graph_nodes.nodes()[i].captured;
      if (captured != kNoStack) of_nodes_[i] = {.stack = captured, .seen = true};
    }
    for (const GraphNodes::Work& work : state_.graph_nodes.work()) AddWork(work);
    for (const OfNode& of : of_nodes_) {
      owners_.stack_of_node.push_back(of.stack);
      owners_.node_was_seen.push_back(of.seen);
    }
    return std::move(owners_);
  }

 private:
  struct OfNode {
    uint32_t stack = kNoStack;
    uint32_t part = kNoPart;
    bool seen = false;
  };

  // Of all of its nodes the capture was seen, so that nothing is left to infer.
  bool WasSeen(const std::vector<uint32_t>& graph) const {
    return std::all_of(graph.begin(), graph.end(), [this](uint32_t node) {
      return state_.graph_nodes.nodes()[node].captured != kNoStack;
    });
  }

  bool FillChildGraphs(const std::vector<uint32_t>& graph) {
    const std::vector<uint32_t> stacks = StacksOfChildGraphs(state_, graph);
    for (size_t i = 0; i < stacks.size(); ++i) {
      of_nodes_[graph[graph.size() - stacks.size() + i]].stack = stacks[i];
    }
    return !stacks.empty();
  }

  bool Match(const std::vector<uint32_t>& graph) {
    if (state_.eager_order.sites().empty()) return false;
    if (MatchWith(graph, LabelsOf(graph, false), Paths(false, &paths_))) return true;
    if (!MatchWith(graph, LabelsOf(graph, true), Paths(true, &class_paths_))) return false;
    ++owners_.matched_by_class;
    return true;
  }

  bool MatchWith(const std::vector<uint32_t>& graph, const std::vector<uint32_t>& labels,
                 const SitePaths& paths) {
    const auto sites = MatchSequence(labels, paths, &match_steps_);
    if (!sites.has_value()) return false;
    for (size_t i = 0; i < graph.size(); ++i) {
      const uint32_t site = (*sites)[i];
      if (site == EagerOrder::kNoSite) continue;
      of_nodes_[graph[i]].stack = state_.eager_order.sites()[site].stack;
    }
    return true;
  }

  uint32_t LabelOf(uint32_t kernel, bool by_class) {
    return by_class ? classes_.Of(kernel) : kernel;
  }

  std::vector<uint32_t> LabelsOf(const std::vector<uint32_t>& graph, bool by_class) {
    std::vector<uint32_t> labels;
    labels.reserve(graph.size());
    for (const uint32_t node : graph) {
      labels.push_back(LabelOf(state_.graph_nodes.nodes()[node].kernel, by_class));
    }
    return labels;
  }

  const SitePaths& Paths(bool by_class, std::unique_ptr<SitePaths>* paths) {
    if (*paths != nullptr) return **paths;
    std::vector<uint32_t> labels, owners;
    for (const EagerOrder::Site& site : state_.eager_order.sites()) {
      labels.push_back(LabelOf(site.kernel, by_class));
      owners.push_back(owner_numbers_.Of(site.stack));
    }
    *paths = std::make_unique<SitePaths>(state_.eager_order, std::move(labels), std::move(owners));
    return **paths;
  }

  void Fold(const std::vector<uint32_t>& graph) {
    const auto repeated = FindRepeatedPart(LabelsOf(graph, false), &repeat_steps_);
    if (!repeated.has_value()) return;
    const std::optional<std::vector<uint32_t>> parts = PartsOf(graph, *repeated);
    if (!parts.has_value()) return;
    for (size_t i = 0; i < repeated->period * repeated->times; ++i) {
      of_nodes_[graph[repeated->begin + i]].part = (*parts)[i % repeated->period];
    }
  }

  KernelFamily FamilyOfNode(uint32_t node) const {
    const Kernel& kernel = state_.kernels[state_.graph_nodes.nodes()[node].kernel];
    return kernel.communication ? KernelFamily::kCommunication : FamilyOf(kernel.mangled_name);
  }

  // The part of each item of one repetition. Graphs of one model for several batch sizes differ in
  // their kernels, not in the order of families: their parts are the same.
  std::optional<std::vector<uint32_t>> PartsOf(const std::vector<uint32_t>& graph,
                                               const RepeatedPart& repeated) {
    std::vector<KernelFamily> families;  // of each part
    std::vector<uint32_t> parts;         // of each item: counted within the repetition
    for (size_t i = 0; i < repeated.period; ++i) {
      const KernelFamily family = FamilyOfNode(graph[repeated.begin + i]);
      if (families.empty() || families.back() != family) families.push_back(family);
      parts.push_back(static_cast<uint32_t>(families.size()) - 1);
    }
    const auto layer = static_cast<uint32_t>(first_parts_.size());
    const auto repeats = static_cast<uint32_t>(repeated.times);
    const auto [known, is_new] =
        first_parts_.try_emplace({repeats, families}, static_cast<uint32_t>(owners_.parts.size()));
    if (is_new && owners_.parts.size() + families.size() > kMostParts) {
      first_parts_.erase(known);
      return std::nullopt;
    }
    for (uint32_t i = 0; is_new && i < families.size(); ++i) {
      owners_.parts.push_back({repeats, layer, i + 1, families[i]});
    }
    for (uint32_t& part : parts) part += known->second;
    return parts;
  }

  void AddWork(const GraphNodes::Work& work) {
    const OfNode& of = of_nodes_[work.node];
    if (of.stack == kNoStack && of.part == kNoPart) return;
    owners_.work.push_back({.kernel = state_.graph_nodes.nodes()[work.node].kernel,
                            .launched_from = work.stack,
                            .stack = of.part == kNoPart ? of.stack : work.stack,
                            .part = of.part,
                            .seen = of.seen,
                            .launches = work.launches,
                            .time_ns = work.time_ns});
  }

  const RunState& state_;
  KernelClasses classes_;
  OwnerNumbers owner_numbers_;
  std::unique_ptr<SitePaths> paths_, class_paths_;
  size_t match_steps_ = kMatchSteps, repeat_steps_ = kRepeatSteps;
  std::vector<OfNode> of_nodes_;
  std::map<std::pair<uint32_t, std::vector<KernelFamily>>, uint32_t> first_parts_;
  GraphOwners owners_;
};

}  // namespace

GraphOwners InferGraphOwners(const RunState& state) { return Inference(state).Infer(); }

}  // namespace utlz
