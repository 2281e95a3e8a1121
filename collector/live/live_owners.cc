#include "collector/live/live_owners.h"

#include <algorithm>
#include <map>
#include <utility>

#include "collector/layer_pattern.h"
#include "collector/live/live_message.h"
#include "collector/owners/why_without_stacks.h"
#include "proto/valid_string.h"

namespace utlz {
namespace {

constexpr char kNotAskedFor[] =
    "no stacks: 'utlz run' and 'utlz attach' with --stacks auto show layers and lines of Python";
constexpr char kNoneYet[] = "no launch with a stack was traced yet";

// So that a snapshot of all that it may hold stays within kMaxLiveBytes.
constexpr size_t kMostTextBytes = 128;

std::string Text(std::string text) {
  if (text.size() > kMostTextBytes) text.resize(kMostTextBytes);
  return ValidText(std::move(text));
}

std::optional<double> Ratio(double part, double whole) {
  return whole > 0 ? std::make_optional(part / whole) : std::nullopt;
}

void AddSums(const LaunchSums& more, LaunchSums* sums) {
  sums->launches += more.launches;
  sums->time_ns += more.time_ns;
}

// Work of a kernel that belongs to a stack.
struct Site {
  uint32_t kernel = 0;
  uint32_t stack = 0;
  LaunchSums sums;
};

// Recorded work with a stack. A kernel of a graph whose capture was seen has the stack of that, and
// is taken off the stack that launched the graph.
std::vector<Site> SitesOf(const RunState& run_state) {
  std::vector<Site> sites;
  std::map<std::pair<uint32_t, uint32_t>, LaunchSums> moved;  // by kernel and launching stack
  for (const GraphNodes::Work& work : run_state.graph_nodes.work()) {
    const GraphNodes::Node& node = run_state.graph_nodes.nodes()[work.node];
    if (node.captured == kNoStack) continue;
    sites.push_back({node.kernel, node.captured, {work.launches, work.time_ns}});
    AddSums(sites.back().sums, &moved[{node.kernel, work.stack}]);
  }
  run_state.stack_work.ForEachSite(
      [&](uint32_t kernel, uint32_t stack, const StackWork::Sums& sums) {
        LaunchSums left = {sums.launches, sums.time_ns};
        if (const auto taken = moved.find({kernel, stack}); taken != moved.end()) {
          left.launches -= std::min(left.launches, taken->second.launches);
          left.time_ns -= std::min(left.time_ns, taken->second.time_ns);
        }
        if (left.launches > 0) sites.push_back({kernel, stack, left});
      });
  return sites;
}

std::string ReasonOf(const RunState& run_state) {
  std::string reason = WhyWithoutStacks(run_state);
  if (!reason.empty() || !run_state.stack_work.empty()) return reason;
  if (run_state.launches == 0) return kNoneYet;
  const auto& processes = run_state.processes.processes();
  const bool asked_for = std::any_of(processes.begin(), processes.end(), [](const auto& entry) {
    return entry.second->status.stack_calls() > 0;
  });
  return asked_for ? kNoneYet : kNotAskedFor;
}

}  // namespace

void LiveOwners::Work::Add(const KernelOfWholeRun& kernel, double time_ns) {
  bound_ns[static_cast<size_t>(kernel.bound)] += time_ns;
  if (kernel.roof_share) {
    roofed_ns += time_ns;
    roofline_ns += time_ns * *kernel.roof_share;
  }
  if (kernel.flops_per_second) {
    counted_ns += time_ns;
    flops += time_ns * *kernel.flops_per_second;
  }
  if (kernel.dram_bytes_per_second) {
    read_ns += time_ns;
    bytes += time_ns * *kernel.dram_bytes_per_second;
  }
}

uint32_t LiveOwners::List::Find(const std::string& key, const char* kind, const std::string& name) {
  const auto known = by_key.find(key);
  if (known != by_key.end()) return known->second;
  if (owners.size() + 1 >= kMostOwners && key != "other") return Find("other", "other", "(others)");
  const auto index = static_cast<uint32_t>(owners.size());
  owners.push_back({.kind = kind, .name = Text(name), .module_class = {}, .paths = {}});
  by_key.emplace(key, index);
  return index;
}

void LiveOwners::List::AddTo(google::protobuf::RepeatedPtrField<LiveOwner>* shown) const {
  double all_ns = 0;
  for (size_t i = 0; i < recent.size(); ++i) {
    all_ns += static_cast<double>(recent.Growth(i).time_ns);
  }
  for (const uint32_t index : recent.Longest(kMostShown, [](uint32_t) { return true; })) {
    const Owner& owner = owners[index];
    const Work& work = works[index];
    const LaunchSums growth = recent.Growth(index);
    const auto time_ns = static_cast<double>(growth.time_ns);
    LiveOwner* const one = shown->Add();
    one->set_id(index);
    one->set_kind(owner.kind);
    one->set_name(owner.name);
    one->set_module_class(owner.module_class);
    if (!owner.paths.empty()) one->set_instances(static_cast<uint32_t>(owner.paths.size()));
    one->set_time_share(time_ns / all_ns);
    if (growth.launches > 0) {
      one->set_mean_time_ns(time_ns / static_cast<double>(growth.launches));
    }
    const auto bound = std::max_element(work.bound_ns.begin(), work.bound_ns.end());
    one->set_bound(static_cast<Bound>(bound - work.bound_ns.begin()));
    if (const auto roof = Ratio(work.roofline_ns, work.roofed_ns)) one->set_roof_share(*roof);
    if (const auto rate = Ratio(work.flops, work.counted_ns)) one->set_flops_per_second(*rate);
    if (const auto rate = Ratio(work.bytes, work.read_ns)) one->set_dram_bytes_per_second(*rate);
  }
}

uint32_t LiveOwners::OwnerOf(uint32_t stack, List* list, const std::function<uint32_t()>& find) {
  if (stack >= list->of_stack.size()) list->of_stack.resize(stack + size_t{1});
  if (list->of_stack[stack] == 0) list->of_stack[stack] = find() + 1;
  return list->of_stack[stack] - 1;
}

uint32_t LiveOwners::LayerOf(uint32_t stack) {
  return OwnerOf(stack, &layers_, [&] {
    const LayerOwner layer = stacks_->LayerOf(stack);
    if (layer.kind != "layer") {
      const std::string name = NameOfNoLayer(layer);
      return layers_.Find(name, layer.kind.c_str(), name);
    }
    const std::string path = PatternOf(layer.path, layer.has_numbered_names);
    const uint32_t index = layers_.Find("layer " + layer.model + "\n" + path, "layer",
                                        path.empty() ? layer.model : path);
    Owner& owner = layers_.owners[index];
    if (owner.kind != "layer") return index;
    // Of some launches of a layer its class is not known.
    if (!layer.module_class.empty()) owner.module_class = Text(layer.module_class);
    if (owner.paths.size() < kMostInstances)
      owner.paths.insert(std::hash<std::string>()(layer.path));
    return index;
  });
}

uint32_t LiveOwners::LineOf(uint32_t stack) {
  return OwnerOf(stack, &lines_, [&] {
    const StackFrame* const frame = stacks_->LineOf(stack);
    if (frame == nullptr) return lines_.Find("unknown", "unknown", "(no line)");
    const std::string name = LineName(*frame);
    return lines_.Find("line " + name + "\n" + frame->file, "line", name);
  });
}

void LiveOwners::Update(const RunState& run_state, const std::vector<KernelOfWholeRun>& kernels) {
  if (run_state.stack_work.empty()) {
    // What comes next is of these seconds.
    layers_.recent.Add(run_state.NewestNs(), {});
    lines_.recent.Add(run_state.NewestNs(), {});
    return;
  }
  if (!stacks_) stacks_.emplace(run_state.stacks);
  const std::vector<Kernel>& all = run_state.kernels.kernels();
  std::vector<LaunchSums> with_stacks(all.size());
  std::vector<LaunchSums> layers;
  std::vector<LaunchSums> lines;
  for (List* list : {&layers_, &lines_}) list->works.assign(list->owners.size(), Work());
  const auto add_to = [&](uint32_t owner, uint32_t kernel, const LaunchSums& launched, List* list,
                          std::vector<LaunchSums>* table) {
    if (owner >= table->size()) table->resize(owner + size_t{1});
    AddSums(launched, &(*table)[owner]);
    if (owner >= list->works.size()) list->works.resize(owner + size_t{1});
    if (kernel >= kernels.size()) return;
    list->works[owner].Add(kernels[kernel], static_cast<double>(launched.time_ns));
  };
  const auto add = [&](uint32_t stack, uint32_t kernel, const LaunchSums& launched) {
    add_to(LayerOf(stack), kernel, launched, &layers_, &layers);
    add_to(LineOf(stack), kernel, launched, &lines_, &lines);
  };
  for (const Site& site : SitesOf(run_state)) {
    if (all[site.kernel].profiler) continue;
    AddSums(site.sums, &with_stacks[site.kernel]);
    add(site.stack, site.kernel, site.sums);
  }
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].profiler) continue;
    const uint64_t launches = all[i].durations.count();
    const uint64_t time_ns = all[i].durations.sum_ns();
    if (launches <= with_stacks[i].launches || time_ns <= with_stacks[i].time_ns) continue;
    add(kNoStack, i, {launches - with_stacks[i].launches, time_ns - with_stacks[i].time_ns});
  }
  layers_.recent.Add(run_state.NewestNs(), std::move(layers));
  lines_.recent.Add(run_state.NewestNs(), std::move(lines));
}

void LiveOwners::AddTo(const RunState& run_state, LiveSnapshot* snapshot) const {
  snapshot->set_owners_reason(Text(ReasonOf(run_state)));
  if (!stacks_) return;
  layers_.AddTo(snapshot->mutable_layers());
  lines_.AddTo(snapshot->mutable_lines());
}

}  // namespace utlz
