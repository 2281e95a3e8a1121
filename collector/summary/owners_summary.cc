#include "collector/summary/owners_summary.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/kernel_names/fused_operations.h"
#include "collector/kernel_names/kernel_class.h"
#include "collector/kernel_names/kernel_family.h"
#include "collector/owners/compiled_parts.h"
#include "collector/owners/graph_owners.h"
#include "collector/owners/stack_owners.h"
#include "collector/owners/why_without_stacks.h"
#include "collector/owners/idle_frames.h"
#include "collector/summary/layer_tree.h"
#include "collector/summary/owner_list.h"
#include "collector/summary/owner_rows.h"
#include "collector/summary/owner_work.h"
#include "proto/valid_string.h"

namespace utlz {
namespace {

constexpr size_t kMostLines = 1000;
constexpr size_t kMostLinesFound = 65536;
constexpr size_t kMostOperations = 1000;  // families, which are few, beyond that

constexpr char kOfCompiledCode[] = "compiled_code";
constexpr char kOfKernelName[] = "kernel_name";
constexpr char kOfFamily[] = "family";

class Owners {
 public:
  Owners(const RunState& state, const Analysis& analysis)
      : state_(state),
        analysis_(analysis),
        graph_owners_(InferGraphOwners(state)),
        stack_owners_(state.stacks),
        compiled_parts_(state) {}

  void Fill(Summary* summary) {
    Divide();
    if (operations_.size() == 0) return;
    OwnersSummary* owners = summary->mutable_owners();
    const auto all_ns = static_cast<double>(all_ns_);
    owners->set_time_ns(all_ns);
    // Of families there are few, so that no row is left over.
    WriteByWeight(operations_, all_ns, false, operations_.size(), "", owners->mutable_operations());
    if (graph_owners_.matched_by_class > 0) owners->set_note(ClassNote());
    const bool has_stacks = !state_.stack_work.empty() || WasSeenCaptured();
    if (!has_stacks && graph_owners_.work.empty()) return;
    owners->set_idle_time_ns(static_cast<double>(idle_ns_));
    WriteTree(layers_.list(), all_ns, owners->mutable_layers());
    if (!has_stacks) return;  // parts that repeat are seen without stacks too
    SetCoverage(owners);
    WriteRepeated(all_ns, owners->mutable_repeated_layers());
    idle_frames_.ForEach(state_.stacks,
                         [this](int line) { return &lines_[static_cast<size_t>(line)].head; });
    WriteByWeight(lines_, all_ns, true, kMostLines, "(other lines)", owners->mutable_lines());
  }

 private:
  bool WasSeenCaptured() const {
    return std::any_of(graph_owners_.work.begin(), graph_owners_.work.end(),
                       [](const MovedWork& work) { return work.seen; });
  }

  struct OfStack {
    bool is_known = false;
    int layer = 0, repeated = 0, line = 0;
    bool has_layer = false, has_line = false, inferred = false, line_inferred = false;
    bool is_part_alone = false;  // of compiled code: concluded, and no layer around it was seen
    bool is_optimizer = false, is_function = false, is_autotuning = false;
    const std::string* operations = nullptr;  // that a compiler wrote beside the launch
    LaunchPass pass = LaunchPass::kForward;
  };

  struct Covered {
    int64_t time_ns = 0;
    double steady_ns = 0;  // of it, in the steady part

    void Add(const WorkPart& part) {
      time_ns += part.time_ns;
      steady_ns += part.steady_ns;
    }
  };

  const OfStack& Of(uint32_t stack) {
    if (stack >= of_stacks_.size()) of_stacks_.resize(stack + size_t{1});
    OfStack& of = of_stacks_[stack];
    if (of.is_known) return of;
    const LayerOwner layer = stack_owners_.LayerOf(stack);
    of.is_known = true;
    SetLayer(layer, &of);
    of.has_layer = layer.kind == "layer";
    of.inferred = layer.inferred;
    of.line_inferred = layer.pass_inferred;
    SetPart(stack, layer, &of);
    if (const StackFrame* frame = stack_owners_.CompiledFrameOf(stack)) {
      of.operations = state_.compiled_operations.Find(frame->file, frame->line);
    }
    if (std::string operations = stack_owners_.OperationsOf(stack); !operations.empty()) {
      of.operations = &*instruction_operations_.insert(std::move(operations)).first;
    }
    of.pass = layer.pass;
    of.line = LineOwner(stack, &of.has_line);
    return of;
  }

  // The rows of an owner, and what it is where it is no layer.
  void SetLayer(const LayerOwner& layer, OfStack* of) {
    of->layer = layers_.OwnerOf(layer);
    of->repeated = repeated_.OwnerOf(layer);
    of->is_optimizer = layer.kind == "optimizer";
    of->is_function = layer.kind == "function";
    of->is_autotuning = layer.kind == "autotuning";
  }

  void SetPart(uint32_t stack, const LayerOwner& layer, OfStack* of) {
    if (layer.kind != "layer" && layer.kind != "outside") return;
    const CompiledPart* part = compiled_parts_.PartOf(stack);
    if (part == nullptr) return;
    of->layer = layers_.OwnerOf(layer, *part);
    of->repeated = repeated_.OwnerOf(layer, *part);
    of->is_part_alone = layer.kind == "outside";
    of->has_layer = true;
  }

  int LineOwner(uint32_t stack, bool* has_line) {
    const StackFrame* frame = stack_owners_.LineOf(stack);
    OwnerSummary head;
    *has_line = frame != nullptr;
    std::string key;
    if (frame != nullptr) {
      key = "line " + std::to_string(frame->line) + " " + frame->name + "\n" + frame->file;
    }
    if (frame == nullptr || (lines_.size() >= kMostLinesFound && !lines_.Has(key))) {
      head.set_kind(frame == nullptr ? "unknown" : "outside");
      head.set_name(frame == nullptr ? "(no line)" : "(other lines)");
      return lines_.Find(head.name(), OwnerList::kNone, head);
    }
    head.set_kind("line");
    head.set_name(ValidText(LineName(*frame)));
    head.set_file(ValidText(frame->file));
    if (frame->line != 0) head.set_line(frame->line);
    head.set_function(ValidText(frame->name));
    return lines_.Find(key, OwnerList::kNone, head);
  }

  bool IsAutotuner(uint32_t kernel) const {
    return IsAutotunerKernel(state_.kernels[kernel].mangled_name);
  }

  // Names are long: each is read once.
  int OperationOf(uint32_t kernel, const std::string* compiled) {
    if (compiled != nullptr) {
      const int row = OperationRow(*compiled, kOfCompiledCode);
      if (row != OwnerList::kNone) return row;
    }
    const auto [known, is_new] = operation_of_kernel_.try_emplace(kernel, OwnerList::kNone);
    if (is_new) known->second = FindOperation(state_.kernels[kernel]);
    return known->second;
  }

  int FindOperation(const Kernel& one) {
    const int row = OperationRow(FusedOperationsText(one.mangled_name), kOfKernelName);
    if (row != OwnerList::kNone) return row;
    return OperationRow(
        NameOf(one.communication ? KernelFamily::kCommunication : FamilyOf(one.mangled_name)),
        kOfFamily);
  }

  // kNone where there is no name, or no room; there is for families.
  int OperationRow(const std::string& name, const std::string& origin) {
    const std::string key = origin + " " + name;
    const bool has_room = operations_.size() < kMostOperations || origin == kOfFamily;
    if (name.empty() || (!has_room && !operations_.Has(key))) return OwnerList::kNone;
    OwnerSummary head;
    head.set_kind("operation");
    head.set_name(name);
    head.set_origin(origin);
    return operations_.Find(key, OwnerList::kNone, head);
  }

  void Divide() {
    DivideWork(
        state_, analysis_, graph_owners_,
        [this](uint32_t stack, size_t row, WorkPart part) {
          OfStack of = Of(stack);
          if (part.part_of_layer != kNoPart) {
            const PartOfLayer& layer = graph_owners_.parts[part.part_of_layer];
            of.layer = layers_.OwnerOf(layer);
            of.repeated = repeated_.OwnerOf(layer);
            of.has_layer = true;
            of.is_optimizer = of.is_function = of.is_autotuning = false;
            of.operations = nullptr;
          } else if (stack == kNoStack && IsAutotuner(analysis_.rows[row].kernel)) {
            LayerOwner autotuning;
            autotuning.kind = "autotuning";
            SetLayer(autotuning, &of);
          }
          // The line of a part is the one that launched the graph: nothing was inferred there.
          const bool line_inferred =
              (part.inferred || of.line_inferred) && part.part_of_layer == kNoPart;
          part.inferred = part.inferred || of.inferred;
          part.pass = of.pass;
          if (of.is_optimizer) optimizer_ns_ += part.time_ns;
          if (of.is_function) function_ns_ += part.time_ns;
          if (of.is_autotuning) autotuning_ns_ += part.time_ns;
          if (of.pass == LaunchPass::kBackward) backward_ns_ += part.time_ns;
          if (of.pass == LaunchPass::kRecomputation) recomputation_ns_ += part.time_ns;
          AddCoverage(of, part);
          layers_.list().Add(of.layer, row, part);
          repeated_.list().Add(of.repeated, row, part);
          part.inferred = line_inferred;
          lines_.Add(of.line, row, part);
          operations_.Add(OperationOf(analysis_.rows[row].kernel, of.operations), row, part);
        },
        [this](const RowErrors& errors) {
          layers_.list().EndRow(errors);
          repeated_.list().EndRow(errors);
          lines_.EndRow(errors);
          operations_.EndRow(errors);
        });
    idle_ns_ = DivideIdleTime(
        state_, analysis_,
        [this](uint32_t before, uint32_t after, int64_t idle_ns) {
          const OfStack from = Of(before), to = Of(after);
          layers_.list().AddIdle(to.layer, from.layer, idle_ns);
          repeated_.list().AddIdle(to.repeated, from.repeated, idle_ns);
          lines_.AddIdle(to.line, from.line, idle_ns);
        },
        [this](uint32_t after, uint32_t inside, double idle_ns) {
          idle_frames_.Add(Of(after).line, inside, idle_ns);
        });
  }

  void AddCoverage(const OfStack& of, const WorkPart& part) {
    all_ns_ += part.time_ns;
    steady_ns_ += part.steady_ns;
    if (of.has_layer) (part.inferred || of.is_part_alone ? inferred_ : layer_).Add(part);
    if (of.has_line) line_.Add(part);
    const bool has_other = of.is_optimizer || of.is_function || of.is_autotuning;
    if (!of.has_layer && !of.has_line && !has_other) ownerless_.Add(part);
  }

  // Coverage of the steps alone leaves out kernels that compilers try at start-up, which nobody
  // owns.
  void SetCoverageOfSteps(OwnersSummary* owners) const {
    if (!analysis_.steady.steps.has_value() || steady_ns_ <= 0) return;
    owners->set_steady_state_time_ns(steady_ns_);
    owners->set_steady_state_line_share(line_.steady_ns / steady_ns_);
    owners->set_steady_state_layer_share(layer_.steady_ns / steady_ns_);
    owners->set_steady_state_inferred_share(inferred_.steady_ns / steady_ns_);
    owners->set_steady_state_ownerless_share(ownerless_.steady_ns / steady_ns_);
  }

  void SetCoverage(OwnersSummary* owners) const {
    if (all_ns_ <= 0) return;
    const auto share = [this](int64_t part_ns) {
      return static_cast<double>(part_ns) / static_cast<double>(all_ns_);
    };
    SetCoverageOfSteps(owners);
    owners->set_line_share(share(line_.time_ns));
    owners->set_layer_share(share(layer_.time_ns));
    owners->set_inferred_share(share(inferred_.time_ns));
    owners->set_ownerless_share(share(ownerless_.time_ns));
    owners->set_backward_share(share(backward_ns_));
    owners->set_recomputation_share(share(recomputation_ns_));
    owners->set_optimizer_share(share(optimizer_ns_));
    owners->set_function_share(share(function_ns_));
    owners->set_autotuning_share(share(autotuning_ns_));
  }

  // How many layers each of the summed ones stands for; nothing where none stands for several.
  void WriteRepeated(double all_ns, OwnerRows* rows) {
    std::vector<uint32_t> instances(repeated_.list().size());
    for (size_t i = 0; i < layers_.list().size(); ++i) {
      const OwnerSummary& head = layers_.list()[i].head;
      if (head.kind() != "layer") continue;
      LayerOwner layer;
      layer.kind = "layer";
      layer.model = head.model();
      if (head.name() != head.model()) layer.path = head.name();
      layer.module_class = head.module_class();
      layer.has_numbered_names = layers_.list()[i].has_numbered_names;
      const size_t known = repeated_.list().size();
      const auto owner = static_cast<size_t>(repeated_.OwnerOf(layer));
      if (owner < known) ++instances[owner];
    }
    if (std::none_of(instances.begin(), instances.end(), [](uint32_t n) { return n > 1; })) return;
    for (size_t i = 0; i < instances.size(); ++i) {
      if (instances[i] > 0) repeated_.list()[i].head.set_instances(instances[i]);
    }
    WriteTree(repeated_.list(), all_ns, rows);
  }

  std::string ClassNote() const {
    const size_t graphs = graph_owners_.matched_by_class;
    return "the owners of " + std::to_string(graphs) + (graphs == 1 ? " graph" : " graphs") +
           " were inferred from launches of kernels with other tiles or grids";
  }

  const RunState& state_;
  const Analysis& analysis_;
  const GraphOwners graph_owners_;
  StackOwners stack_owners_;
  CompiledParts compiled_parts_;
  LayerTree layers_{false};
  LayerTree repeated_{true};
  OwnerList lines_, operations_;
  IdleFrames idle_frames_;  // by line
  std::unordered_map<uint32_t, int> operation_of_kernel_;
  std::set<std::string> instruction_operations_;  // of XLA's, which stacks point to
  std::vector<OfStack> of_stacks_;
  int64_t all_ns_ = 0, idle_ns_ = 0;
  double steady_ns_ = 0;
  Covered layer_, line_, inferred_, ownerless_;
  int64_t backward_ns_ = 0, recomputation_ns_ = 0, optimizer_ns_ = 0, function_ns_ = 0,
          autotuning_ns_ = 0;
};

}  // namespace

void SummarizeOwners(const RunState& state, const Analysis& analysis, Summary* summary) {
  const std::string note = WhyWithoutStacks(state);
  Owners(state, analysis).Fill(summary);
  if (note.empty()) return;
  const std::string& other = summary->owners().note();
  summary->mutable_owners()->set_note(other.empty() ? note : note + "; " + other);
}

}  // namespace utlz
