#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "tools/compare/kernel_match.h"

namespace utlz {
namespace {

template <typename Dimensions>
std::string DimensionText(const Dimensions& dimensions) {
  std::string text;
  for (const uint32_t size : dimensions) {
    if (!text.empty()) text += "×";
    text += std::to_string(size);
  }
  return text;
}

std::string ShapeText(const KernelSummary& kernel) {
  std::string text = "grid " + DimensionText(kernel.grid());
  text += ", block " + DimensionText(kernel.block());
  if (kernel.cluster_size() > 0) text += ", cluster " + DimensionText(kernel.cluster());
  return text;
}

// Spread of one launch, from the quantiles that a summary keeps; a normal distribution has its 99 %
// quantile 2.326 deviations above the median.
double LaunchDeviation(const KernelSummary& kernel) {
  if (!kernel.has_time_p50_ns() || !kernel.has_time_p99_ns()) return 0;
  return std::max(0.0, (kernel.time_p99_ns() - kernel.time_p50_ns()) / 2.326);
}

Estimate TimeOf(const KernelSummary& kernel) {
  const double launches = static_cast<double>(kernel.launches());
  const double traced =
      kernel.has_launches_traced() ? static_cast<double>(kernel.launches_traced()) : launches;
  const double sampling = traced > 0 ? LaunchDeviation(kernel) * launches / std::sqrt(traced) : 0;
  return {kernel.time_ns(), std::hypot(kernel.time_error_ns(), sampling)};
}

void Add(std::optional<Estimate>& sum, Estimate part, double divisor) {
  if (!sum) sum = Estimate{};
  sum->value += part.value / divisor;
  sum->error = std::hypot(sum->error, part.error / divisor);
}

// A sum of parts of which one is unknown is unknown.
struct CounterSum {
  Estimate sum;
  bool known = true;

  void Add(bool has, double value, double error) {
    known = known && has;
    sum.value += value;
    sum.error = std::hypot(sum.error, error);
  }
};

struct Counters {
  CounterSum flops;
  CounterSum bytes;
};

using Key = std::tuple<std::string, std::string, std::string>;

Key KeyOf(const KernelSummary& kernel) {
  const KernelShape shape = ShapeOf(kernel);
  return {shape.function, shape.shape, kernel.variant_label()};
}

// A group is of all GPUs, and a short name may end with one of them.
std::string WithoutGpu(const std::string& name) {
  const size_t end = name.rfind(", GPU ");
  const size_t digits = end == std::string::npos ? end : end + std::string_view(", GPU ").size();
  return digits < name.size() && name.find_first_not_of("0123456789", digits) == std::string::npos
             ? name.substr(0, end)
             : name;
}

KernelGroup MakeGroup(const Key& key, const KernelSummary& kernel, size_t runs) {
  KernelGroup group;
  std::tie(group.function, group.shape, group.variant_label) = key;
  group.work = KernelClass(group.function);
  group.short_name = kernel.short_name().empty() ? kernel.name() : WithoutGpu(kernel.short_name());
  group.time_ns.assign(runs, Estimate{});
  group.launches.assign(runs, Estimate{});
  group.flops.assign(runs, std::nullopt);
  group.dram_bytes.assign(runs, std::nullopt);
  return group;
}

std::optional<Estimate> Scaled(const CounterSum& counter, double divisor) {
  if (!counter.known) return std::nullopt;
  return Estimate{counter.sum.value / divisor, counter.sum.error / divisor};
}

// Absent on one side counts as nothing, as for a run that does not have a kernel.
void AddEach(const Estimates& parts, Estimates* sums) {
  for (size_t run = 0; run < sums->size(); ++run) {
    if (parts[run]) Add((*sums)[run], *parts[run], 1);
  }
}

// A sum with an unknown part is unknown.
void AddEachKnown(const Estimates& parts, Estimates* sums) {
  for (size_t run = 0; run < sums->size(); ++run) {
    if (parts[run] && (*sums)[run]) {
      Add((*sums)[run], *parts[run], 1);
    } else {
      (*sums)[run].reset();
    }
  }
}

std::map<KernelShape, std::set<std::string>> KindsOf(const std::vector<KernelGroup>& groups) {
  std::map<KernelShape, std::set<std::string>> kinds;
  for (const KernelGroup& group : groups) {
    kinds[{group.function, group.shape}].insert(group.variant_label);
  }
  return kinds;
}

// A short name ends with the kind.
std::string WithoutKind(const KernelGroup& group) {
  const size_t end = group.short_name.rfind(" " + group.variant_label);
  return group.variant_label.empty() || end == std::string::npos ? group.short_name
                                                                 : group.short_name.substr(0, end);
}

void JoinKinds(const std::set<KernelShape>& shapes, std::vector<KernelGroup>* groups) {
  std::map<KernelShape, KernelGroup> joined;
  std::vector<KernelGroup> kept;
  for (KernelGroup& group : *groups) {
    const KernelShape shape = {group.function, group.shape};
    if (!shapes.contains(shape)) {
      kept.push_back(std::move(group));
      continue;
    }
    group.short_name = WithoutKind(group);
    group.variant_label.clear();
    const auto [found, is_first] = joined.try_emplace(shape, group);
    if (is_first) continue;
    AddEach(group.time_ns, &found->second.time_ns);
    AddEach(group.launches, &found->second.launches);
    AddEachKnown(group.flops, &found->second.flops);
    AddEachKnown(group.dram_bytes, &found->second.dram_bytes);
  }
  for (auto& [shape, group] : joined) kept.push_back(std::move(group));
  *groups = std::move(kept);
}

}  // namespace

KernelShape ShapeOf(const KernelSummary& kernel) {
  return {kernel.mangled_name().empty() ? kernel.name() : kernel.mangled_name(), ShapeText(kernel)};
}

void JoinUnequalKinds(std::vector<KernelGroup>* before, std::vector<KernelGroup>* after) {
  const auto kinds_before = KindsOf(*before);
  const auto kinds_after = KindsOf(*after);
  std::set<KernelShape> unequal;
  for (const auto& [shape, kinds] : kinds_before) {
    const auto found = kinds_after.find(shape);
    if (found != kinds_after.end() && found->second != kinds) unequal.insert(shape);
  }
  JoinKinds(unequal, before);
  JoinKinds(unequal, after);
}

double KernelGroup::MeanTime() const {
  double sum = 0;
  for (const std::optional<Estimate>& run : time_ns) sum += run ? run->value : 0;
  return time_ns.empty() ? 0 : sum / static_cast<double>(time_ns.size());
}

std::vector<KernelGroup> GroupKernels(const std::vector<Summary>& runs,
                                      const std::vector<double>& divisor) {
  std::map<Key, KernelGroup> groups;
  for (size_t run = 0; run < runs.size(); ++run) {
    std::map<Key, Counters> counters;
    for (const KernelSummary& kernel : runs[run].kernels()) {
      const Key key = KeyOf(kernel);
      auto found = groups.find(key);
      if (found == groups.end()) {
        found = groups.emplace(key, MakeGroup(key, kernel, runs.size())).first;
      }
      Add(found->second.time_ns[run], TimeOf(kernel), divisor[run]);
      Add(found->second.launches[run], {static_cast<double>(kernel.launches()), 0}, divisor[run]);
      Counters& sums = counters[key];
      sums.flops.Add(kernel.has_flops(), kernel.flops(), kernel.flops_error());
      sums.bytes.Add(kernel.has_dram_bytes(), kernel.dram_bytes(), kernel.dram_bytes_error());
    }
    for (const auto& [key, sums] : counters) {
      groups.at(key).flops[run] = Scaled(sums.flops, divisor[run]);
      groups.at(key).dram_bytes[run] = Scaled(sums.bytes, divisor[run]);
    }
  }
  std::vector<KernelGroup> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

}  // namespace utlz
