#include "tools/compare/kernel_match.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace utlz {
namespace {

// Two functions play one role only if these agree, as ratios of the larger to the smaller.
constexpr double kLaunchesTolerance = 1.02;
constexpr double kFlopsTolerance = 1.05;
constexpr double kBytesTolerance = 1.5;
// Functions of a side that are compared with each of the other side's: those that take most time.
constexpr size_t kMostCompared = 2000;

struct ClassWord {
  std::string_view word;
  std::string_view name;
};
// The first word found in a name decides: attention kernels hold "gemm" too, so they come first.
constexpr ClassWord kClassWords[] = {
    {"nccl", "communication"},     {"allreduce", "communication"},  {"flash", "attention"},
    {"fmha", "attention"},         {"attention", "attention"},      {"sdpa", "attention"},
    {"softmax", "softmax"},        {"layer_norm", "normalization"}, {"layernorm", "normalization"},
    {"rms", "normalization"},      {"batch_norm", "normalization"}, {"adam", "optimizer"},
    {"multi_tensor", "optimizer"}, {"conv", "convolution"},         {"gemv", "matrix product"},
    {"gemm", "matrix product"},    {"matmul", "matrix product"},    {"nvjet", "matrix product"},
    {"cutlass", "matrix product"}, {"embedding", "gather"},         {"index", "gather"},
    {"gather", "gather"},          {"reduce", "reduction"},         {"elementwise", "elementwise"},
    {"copy", "elementwise"},       {"triton_poi", "elementwise"},
};

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return lower;
}

std::optional<double> MeanOf(const Estimates& estimates) {
  double sum = 0;
  for (const std::optional<Estimate>& run : estimates) {
    if (!run) return std::nullopt;
    sum += run->value;
  }
  if (estimates.empty()) return std::nullopt;
  return sum / static_cast<double>(estimates.size());
}

// |ln(b ÷ a)|, or absent where the ratio is beyond `tolerance`. Unknown sides do not speak against.
std::optional<double> Distance(const Estimates& a, const Estimates& b, double tolerance) {
  const std::optional<double> mean_a = MeanOf(a);
  const std::optional<double> mean_b = MeanOf(b);
  if (!mean_a || !mean_b) return 0;
  if (*mean_a <= 0 && *mean_b <= 0) return 0;
  if (*mean_a <= 0 || *mean_b <= 0) return std::nullopt;
  const double distance = std::abs(std::log(*mean_b / *mean_a));
  if (distance > std::log(tolerance)) return std::nullopt;
  return distance;
}

std::optional<double> RoleDistance(const KernelGroup& a, const KernelGroup& b) {
  if (a.work.empty() || a.work != b.work) return std::nullopt;
  const std::optional<double> launches = Distance(a.launches, b.launches, kLaunchesTolerance);
  const std::optional<double> flops = Distance(a.flops, b.flops, kFlopsTolerance);
  const std::optional<double> bytes = Distance(a.dram_bytes, b.dram_bytes, kBytesTolerance);
  if (!launches || !flops || !bytes) return std::nullopt;
  return 10 * *launches + *flops + 0.1 * *bytes;
}

// Same function, other shape: the one with the nearest number of launches and time.
std::optional<double> NameDistance(const KernelGroup& a, const KernelGroup& b) {
  if (a.function != b.function) return std::nullopt;
  const double everything = 1e300;
  return Distance(a.launches, b.launches, everything).value_or(1e3) +
         Distance(a.time_ns, b.time_ns, everything).value_or(1e3);
}

// Pairs off what two sides still have, nearest first.
class Pairing {
 public:
  Pairing(const std::vector<KernelGroup>& before, const std::vector<KernelGroup>& after) {
    for (const KernelGroup& group : before) before_.insert(&group);
    for (const KernelGroup& group : after) after_.insert(&group);
  }

  void ByShape() {
    std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const KernelGroup*>
        by_key;
    for (const KernelGroup* group : after_) {
      by_key[{group->function, group->shape, group->variant_label}] = group;
    }
    for (const KernelGroup* group : std::set(before_)) {
      const auto found = by_key.find({group->function, group->shape, group->variant_label});
      if (found != by_key.end()) Take(group, found->second, MatchedBy::kNameAndShape);
    }
  }

  template <typename DistanceFunction>
  void Nearest(DistanceFunction distance, MatchedBy by) {
    std::vector<std::tuple<double, const KernelGroup*, const KernelGroup*>> candidates;
    const std::vector<const KernelGroup*> after = Longest(after_);
    for (const KernelGroup* a : Longest(before_)) {
      for (const KernelGroup* b : after) {
        if (const std::optional<double> d = distance(*a, *b)) candidates.emplace_back(*d, a, b);
      }
    }
    std::sort(candidates.begin(), candidates.end());
    for (const auto& [d, a, b] : candidates) {
      if (before_.contains(a) && after_.contains(b)) Take(a, b, by);
    }
  }

  std::vector<KernelMatch> Finish() {
    for (const KernelGroup* group : before_) matches_.push_back({group, nullptr});
    for (const KernelGroup* group : after_) matches_.push_back({nullptr, group});
    return std::move(matches_);
  }

 private:
  static std::vector<const KernelGroup*> Longest(const std::set<const KernelGroup*>& groups) {
    std::vector<const KernelGroup*> longest(groups.begin(), groups.end());
    if (longest.size() <= kMostCompared) return longest;
    std::sort(longest.begin(), longest.end(), [](const KernelGroup* a, const KernelGroup* b) {
      return a->MeanTime() > b->MeanTime();
    });
    longest.resize(kMostCompared);
    return longest;
  }

  void Take(const KernelGroup* a, const KernelGroup* b, MatchedBy by) {
    matches_.push_back({a, b, by});
    before_.erase(a);
    after_.erase(b);
  }

  std::set<const KernelGroup*> before_;
  std::set<const KernelGroup*> after_;
  std::vector<KernelMatch> matches_;
};

}  // namespace

std::string_view KernelClass(std::string_view function_name) {
  const std::string lower = LowerCase(function_name);
  for (const ClassWord& entry : kClassWords) {
    if (lower.find(entry.word) != std::string::npos) return entry.name;
  }
  return {};
}

std::vector<KernelMatch> MatchKernels(const std::vector<KernelGroup>& before,
                                      const std::vector<KernelGroup>& after) {
  Pairing pairing(before, after);
  pairing.ByShape();
  pairing.Nearest(NameDistance, MatchedBy::kName);
  pairing.Nearest(RoleDistance, MatchedBy::kRole);
  return pairing.Finish();
}

}  // namespace utlz
