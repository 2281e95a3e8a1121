#include "collector/summary/owners_summary.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/kernel_names/fused_operations.h"
#include "collector/kernel_names/kernel_family.h"
#include "collector/owners/graph_owners.h"
#include "collector/owners/stack_owners.h"
#include "collector/summary/kernel_summary.h"
#include "collector/summary/owner_list.h"
#include "collector/summary/owner_work.h"
#include "proto/valid_text.h"

namespace utlz {
namespace {

constexpr size_t kMostLayers = 8192;
constexpr size_t kMostLines = 1000;
constexpr size_t kMostLinesFound = 65536;
constexpr size_t kMostOperations = 1000;  // families, which are few, beyond that
// Kernels that are named beside an owner, and beside all owners of a list together.
constexpr size_t kMostKernelsOfOwner = 64;
constexpr size_t kMostKernelsOfList = 32768;

constexpr char kOfKernelName[] = "kernel_name";
constexpr char kRepeatedPart[] = "repeated_part";

std::string Valid(std::string text) {
  MakeValidUtf8(text.data(), text.size());
  return text;
}

// Of what is no layer.
std::string NameOf(const LayerOwner& owner) {
  if (owner.kind == "optimizer") {
    return owner.path.empty() ? "(optimizer)" : "(optimizer " + owner.path + ")";
  }
  return owner.kind == "unknown" ? "(no stack)" : "(outside of layers)";
}

// What lies deeper is one of them.
constexpr size_t kMostComponents = 32;

std::vector<std::string> ComponentsOf(const std::string& path) {
  std::vector<std::string> components;
  for (size_t begin = 0; begin < path.size();) {
    const bool is_last = components.size() + 1 == kMostComponents;
    const size_t end = is_last ? path.size() : std::min(path.find('.', begin), path.size());
    components.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return components;
}

class LayerTree {
 public:
  explicit LayerTree(bool starred) : starred_(starred) {}

  int OwnerOf(const LayerOwner& layer) {
    OwnerSummary head;
    head.set_kind(layer.kind);
    if (layer.kind != "layer") {
      head.set_name(Valid(NameOf(layer)));
      // Programs have few optimizers: these names cannot crowd layers out.
      const std::string key = layer.kind + "\n" + layer.path;
      const bool has_room = list_.size() < kMostLayers || list_.Has(key);
      return list_.Find(has_room ? key : layer.kind, OwnerList::kNone, head);
    }
    const std::string shown_path = starred_ ? PatternOf(layer.path) : layer.path;
    std::string key = "layer " + layer.model;
    if (list_.size() >= kMostLayers &&
        !list_.Has(shown_path.empty() ? key : key + "." + shown_path)) {
      head.set_kind("outside");
      head.set_name("(other layers)");
      return list_.Find("other", OwnerList::kNone, head);
    }
    head.set_model(Valid(layer.model));
    head.set_name(Valid(layer.model));
    int owner = list_.Find(key, OwnerList::kNone, head);
    std::string path;
    for (const std::string& component : ComponentsOf(shown_path)) {
      path += (path.empty() ? "" : ".") + component;
      key += "." + component;
      head.set_name(Valid(path));
      owner = list_.Find(key, owner, head);
    }
    list_[static_cast<size_t>(owner)].head.set_module_class(Valid(layer.module_class));
    return owner;
  }

  // Kernels of one family within a part of graphs that repeats and has no name.
  int OwnerOf(const PartOfLayer& part) {
    OwnerSummary head;
    head.set_kind(kRepeatedPart);
    head.set_name("(repeated part)");
    head.set_instances(part.repeats);
    const std::string key = "part " + std::to_string(part.layer);
    const int around = list_.Find(key, OwnerList::kNone, head);
    const std::string name = std::to_string(part.position) + " " + NameOf(part.family);
    head.set_name("(part) " + name);
    return list_.Find(key + " " + name, around, head);
  }

  OwnerList& list() { return list_; }

 private:
  bool starred_;
  OwnerList list_;
};

// By the numbers in names, as far as names are equal before them.
bool NaturallyBefore(const std::string& a, const std::string& b) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      size_t a_end = i, b_end = j;
      while (a_end < a.size() && is_digit(a[a_end])) ++a_end;
      while (b_end < b.size() && is_digit(b[b_end])) ++b_end;
      if (a_end - i != b_end - j) return a_end - i < b_end - j;
      const int order = a.compare(i, a_end - i, b, j, b_end - j);
      if (order != 0) return order < 0;
      i = a_end;
      j = b_end;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

// Each owner after the one around it, neighbours by `before`.
template <typename Before>
std::vector<int> TreeOrder(const OwnerList& list, Before before) {
  std::vector<std::vector<int>> inside(list.size() + 1);
  for (size_t i = 0; i < list.size(); ++i) {
    inside[static_cast<size_t>(list[i].parent + 1)].push_back(static_cast<int>(i));
  }
  std::vector<int> order, open;
  const auto push = [&](size_t of) {
    std::vector<int>& owners = inside[of];
    std::sort(owners.begin(), owners.end(), [&](int a, int b) {
      return before(list[static_cast<size_t>(b)], list[static_cast<size_t>(a)]);
    });
    open.insert(open.end(), owners.begin(), owners.end());
  };
  for (push(0); !open.empty();) {
    order.push_back(open.back());
    open.pop_back();
    push(static_cast<size_t>(order.back()) + 1);
  }
  return order;
}

using Rows = google::protobuf::RepeatedPtrField<OwnerSummary>;

// Which kernels the owners' own work is of, as far as there is room in the list: `room`.
void NameKernels(const OwnerList::Owner& owner, size_t* room, OwnerSummary* row) {
  std::vector<std::pair<size_t, int64_t>> parts = owner.own_rows;
  const size_t named = std::min({parts.size(), kMostKernelsOfOwner, *room});
  const auto end = parts.begin() + static_cast<std::ptrdiff_t>(named);
  std::partial_sort(parts.begin(), end, parts.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (auto part = parts.begin(); part != end; ++part) {
    row->add_own_kernel_ids(KernelIdOf(part->first));
    row->add_own_kernel_time_ns(static_cast<double>(part->second));
  }
  if (named < parts.size()) {
    row->set_own_kernels_left_out(static_cast<uint32_t>(parts.size() - named));
  }
  *room -= named;
}

// Those with most time first. `places`: of each owner in `rows`.
void NameKernels(const OwnerList& list, const std::vector<int>& places, Rows* rows) {
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return list[a].own.time_ns > list[b].own.time_ns; });
  size_t room = kMostKernelsOfList;
  for (const size_t owner : order) NameKernels(list[owner], &room, rows->Mutable(places[owner]));
}

void WriteTree(const OwnerList& list, double all_ns, Rows* rows) {
  const std::vector<int> order = TreeOrder(list, [](const auto& a, const auto& b) {
    if ((a.head.kind() == "layer") != (b.head.kind() == "layer")) return a.head.kind() == "layer";
    return NaturallyBefore(a.head.name(), b.head.name());
  });
  std::vector<int> places(list.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto index = static_cast<size_t>(order[i]);
    places[index] = static_cast<int>(i);
    OwnerSummary row = list.Describe(index, all_ns, true);
    if (list[index].parent != OwnerList::kNone) {
      row.set_parent(places[static_cast<size_t>(list[index].parent)]);
    }
    *rows->Add() = std::move(row);
  }
  NameKernels(list, places, rows);
}

class Owners {
 public:
  Owners(const RunState& state, const Analysis& analysis)
      : state_(state),
        analysis_(analysis),
        graph_owners_(InferGraphOwners(state)),
        stack_owners_(state.stacks) {}

  void Fill(Summary* summary) {
    Divide(*summary);
    if (operations_.size() == 0) return;
    OwnersSummary* owners = summary->mutable_owners();
    const auto all_ns = static_cast<double>(all_ns_);
    owners->set_time_ns(all_ns);
    WriteOperations(all_ns, owners->mutable_operations());
    if (graph_owners_.matched_by_class > 0) owners->set_note(ClassNote());
    if (state_.stack_work.empty() && graph_owners_.work.empty()) return;
    owners->set_idle_time_ns(static_cast<double>(idle_ns_));
    WriteTree(layers_.list(), all_ns, owners->mutable_layers());
    if (state_.stack_work.empty()) return;  // parts that repeat are seen without stacks too
    SetCoverage(owners);
    WriteRepeated(all_ns, owners->mutable_repeated_layers());
    WriteLines(all_ns, owners->mutable_lines());
  }

 private:
  struct OfStack {
    bool is_known = false;
    int layer = 0, repeated = 0, line = 0;
    bool has_layer = false, has_line = false, inferred = false, is_optimizer = false;
    LaunchPass pass = LaunchPass::kForward;
  };

  const OfStack& Of(uint32_t stack) {
    if (stack >= of_stacks_.size()) of_stacks_.resize(stack + size_t{1});
    OfStack& of = of_stacks_[stack];
    if (of.is_known) return of;
    const LayerOwner layer = stack_owners_.LayerOf(stack);
    of.is_known = true;
    of.layer = layers_.OwnerOf(layer);
    of.repeated = repeated_.OwnerOf(layer);
    of.has_layer = layer.kind == "layer" || layer.kind == "optimizer";
    of.inferred = layer.inferred;
    of.is_optimizer = layer.kind == "optimizer";
    of.pass = layer.pass;
    of.line = LineOwner(stack, &of.has_line);
    return of;
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
    head.set_name(Valid(LineName(*frame)));
    head.set_file(Valid(frame->file));
    if (frame->line != 0) head.set_line(frame->line);
    head.set_function(Valid(frame->name));
    return lines_.Find(key, OwnerList::kNone, head);
  }

  // Names are long: each is read once.
  int OperationOf(uint32_t kernel) {
    const auto [known, is_new] = operation_of_kernel_.try_emplace(kernel, OwnerList::kNone);
    if (is_new) known->second = FindOperation(state_.kernels[kernel]);
    return known->second;
  }

  int FindOperation(const Kernel& one) {
    OwnerSummary head;
    head.set_kind("operation");
    head.set_name(FusedOperationsText(one.mangled_name));
    head.set_origin(kOfKernelName);
    if (head.name().empty() || (operations_.size() >= kMostOperations &&
                                !operations_.Has(head.origin() + " " + head.name()))) {
      head.set_name(
          NameOf(one.communication ? KernelFamily::kCommunication : FamilyOf(one.mangled_name)));
      head.set_origin("family");
    }
    return operations_.Find(head.origin() + " " + head.name(), OwnerList::kNone, head);
  }

  void Divide(const Summary& summary) {
    DivideWork(
        state_, analysis_, graph_owners_,
        [this](uint32_t stack, size_t row, WorkPart part) {
          OfStack of = Of(stack);
          if (part.part_of_layer != kNoPart) {
            const PartOfLayer& layer = graph_owners_.parts[part.part_of_layer];
            of.layer = layers_.OwnerOf(layer);
            of.repeated = repeated_.OwnerOf(layer);
            of.has_layer = true;
          }
          part.inferred = part.inferred || of.inferred;
          part.pass = of.pass;
          if (of.is_optimizer) optimizer_ns_ += part.time_ns;
          if (of.pass == LaunchPass::kBackward) backward_ns_ += part.time_ns;
          if (of.pass == LaunchPass::kRecomputation) recomputation_ns_ += part.time_ns;
          all_ns_ += part.time_ns;
          if (of.has_layer) (part.inferred ? inferred_ns_ : layer_ns_) += part.time_ns;
          if (of.has_line) line_ns_ += part.time_ns;
          if (!of.has_layer && !of.has_line) ownerless_ns_ += part.time_ns;
          layers_.list().Add(of.layer, row, part);
          repeated_.list().Add(of.repeated, row, part);
          // The line of a part is the one that launched the graph: nothing was inferred there.
          part.inferred = part.inferred && part.part_of_layer == kNoPart;
          lines_.Add(of.line, row, part);
          operations_.Add(OperationOf(analysis_.rows[row].kernel), row, part);
        },
        [this](const RowErrors& errors) {
          layers_.list().EndRow(errors);
          repeated_.list().EndRow(errors);
          lines_.EndRow(errors);
          operations_.EndRow(errors);
        });
    idle_ns_ = DivideIdleTime(state_, analysis_, summary,
                              [this](uint32_t before, uint32_t after, int64_t idle_ns) {
                                const OfStack from = Of(before), to = Of(after);
                                layers_.list().AddIdle(to.layer, from.layer, idle_ns);
                                repeated_.list().AddIdle(to.repeated, from.repeated, idle_ns);
                                lines_.AddIdle(to.line, from.line, idle_ns);
                              });
  }

  void SetCoverage(OwnersSummary* owners) const {
    if (all_ns_ <= 0) return;
    const auto share = [this](int64_t part_ns) {
      return static_cast<double>(part_ns) / static_cast<double>(all_ns_);
    };
    owners->set_line_share(share(line_ns_));
    owners->set_layer_share(share(layer_ns_));
    owners->set_inferred_share(share(inferred_ns_));
    owners->set_ownerless_share(share(ownerless_ns_));
    owners->set_backward_share(share(backward_ns_));
    owners->set_recomputation_share(share(recomputation_ns_));
    owners->set_optimizer_share(share(optimizer_ns_));
  }

  // How many layers each of the summed ones stands for; nothing where none stands for several.
  void WriteRepeated(double all_ns, Rows* rows) {
    std::vector<uint32_t> instances(repeated_.list().size());
    for (size_t i = 0; i < layers_.list().size(); ++i) {
      const OwnerSummary& head = layers_.list()[i].head;
      if (head.kind() != "layer") continue;
      LayerOwner layer;
      layer.kind = "layer";
      layer.model = head.model();
      if (head.name() != head.model()) layer.path = head.name();
      layer.module_class = head.module_class();
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

  static int64_t WeightOf(const OwnerList::Owner& owner) {
    return owner.all.time_ns + owner.all.idle_ns;
  }

  static std::vector<size_t> ByWeight(const OwnerList& list) {
    std::vector<size_t> order(list.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return WeightOf(list[a]) > WeightOf(list[b]); });
    return order;
  }

  // Those beyond kMostLines in one row.
  void WriteLines(double all_ns, Rows* rows) {
    const std::vector<size_t> order = ByWeight(lines_);
    size_t room = kMostKernelsOfList;
    for (size_t i = 0; i < std::min(order.size(), kMostLines); ++i) {
      *rows->Add() = lines_.Describe(order[i], all_ns, true);
      NameKernels(lines_[order[i]], &room, rows->Mutable(rows->size() - 1));
    }
    if (order.size() <= kMostLines) return;
    OwnerList rest;
    OwnerSummary head;
    head.set_kind("outside");
    head.set_name("(other lines)");
    OwnerList::Owner& owner = rest[static_cast<size_t>(rest.Find("", OwnerList::kNone, head))];
    std::set<size_t> kernels;
    for (size_t i = kMostLines; i < order.size(); ++i) {
      owner.own.Add(lines_[order[i]].own);
      owner.all.Add(lines_[order[i]].all);
      for (const auto& part : lines_[order[i]].own_rows) kernels.insert(part.first);
    }
    *rows->Add() = rest.Describe(0, all_ns, true);
    rows->Mutable(rows->size() - 1)
        ->set_own_kernels_left_out(static_cast<uint32_t>(kernels.size()));
  }

  void WriteOperations(double all_ns, Rows* rows) const {
    size_t room = kMostKernelsOfList;
    for (const size_t index : ByWeight(operations_)) {
      *rows->Add() = operations_.Describe(index, all_ns, false);
      NameKernels(operations_[index], &room, rows->Mutable(rows->size() - 1));
    }
  }

  const RunState& state_;
  const Analysis& analysis_;
  const GraphOwners graph_owners_;
  StackOwners stack_owners_;
  LayerTree layers_{false};
  LayerTree repeated_{true};
  OwnerList lines_, operations_;
  std::unordered_map<uint32_t, int> operation_of_kernel_;
  std::vector<OfStack> of_stacks_;
  int64_t all_ns_ = 0, idle_ns_ = 0;
  int64_t layer_ns_ = 0, line_ns_ = 0, inferred_ns_ = 0, ownerless_ns_ = 0;
  int64_t backward_ns_ = 0, recomputation_ns_ = 0, optimizer_ns_ = 0;
};

const char* SentenceOf(uint32_t reason) {
  switch (reason) {
    case NO_STACK_NO_PYTHON:
      return "no interpreter of Python was found in the process";
    case NO_STACK_OTHER_VERSION:
      return "its Python is no final release of CPython 3.11 to 3.14";
    case NO_STACK_FREE_THREADED:
      return "its Python is free-threaded";
    case NO_STACK_DEBUG_BUILD:
      return "its Python is a debug build";
    case NO_STACK_JIT_BUILD:
      return "its Python is built with a JIT compiler";
    case NO_STACK_OTHER_LAYOUT:
      return "its Python has another layout than CPython's";
    case NO_STACK_NO_MEMORY:
      return "there was no memory for them";
    case NO_STACK_NOT_SUBSCRIBED:
      return "another CUPTI client, such as torch.profiler, has the subscription or has had it";
    default:
      return nullptr;
  }
}

// A program without PyTorch has no backward pass of its kind.
const char* SentenceOfBackward(uint32_t reason) {
  switch (reason) {
    case NO_BACKWARD_OTHER_RELEASE:
      return "its PyTorch is no release from 2.0 to 2.11";
    case NO_BACKWARD_OTHER_LAYOUT:
      return "its PyTorch keeps nodes elsewhere than the release that it says it is";
    default:
      return nullptr;
  }
}

}  // namespace

// Of the first process whose stacks could not be read: it stands for the others.
std::string WhyWithoutStacks(const RunState& state) {
  std::string of_backward;
  for (const auto& entry : state.processes.processes()) {
    const AgentStatus& status = entry.second->status;
    const std::string process = "process " + std::to_string(entry.second->info.pid());
    if (const char* sentence = SentenceOf(status.no_stack())) {
      return process + " has launches without stacks: " + sentence;
    }
    const char* sentence = SentenceOfBackward(status.no_backward());
    if (sentence == nullptr || !of_backward.empty()) continue;
    of_backward = process + " has backward launches without an owner: " + sentence;
  }
  return of_backward;
}

void SummarizeOwners(const RunState& state, const Analysis& analysis, Summary* summary) {
  const std::string note = WhyWithoutStacks(state);
  Owners(state, analysis).Fill(summary);
  if (note.empty()) return;
  const std::string& other = summary->owners().note();
  summary->mutable_owners()->set_note(other.empty() ? note : note + "; " + other);
}

}  // namespace utlz
