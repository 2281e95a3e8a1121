#include "collector/summary/owner_work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/exact_shares.h"

namespace utlz {
namespace {

void Add(const ByWindowGroup& more, ByWindowGroup* sum) {
  for (size_t i = 0; i < sum->size(); ++i) (*sum)[i] += more[i];
}

struct SitePart {
  uint32_t stack = 0;
  double launches = 0;
  double time_ns = 0;
  bool inferred = false;
  uint32_t part = kNoPart;
  ByWindowGroup by_group{};  // launches; none of what is not known by its own stack

  auto Order() const { return std::tuple(stack, inferred, part); }
};

// What is known of a row, of one launch each.
struct RowWork {
  std::optional<double> flops, bytes;
  RowErrors errors;
};

RowWork WorkOf(const KernelRow& row) {
  RowWork work;
  double flops = 0, variance = 0;
  for (const TypedFlops& typed : row.work.flops) {
    flops += typed.flops;
    variance += typed.error * typed.error;
  }
  if (!row.work.flops.empty() && !row.flops_uncertain) {
    work.flops = flops;
    work.errors.flops = std::sqrt(variance);
  }
  const auto& read = row.work.read_bytes;
  const auto& write = row.work.write_bytes;
  if (read.has_value() && write.has_value() && row.withheld.empty()) {
    work.bytes = read->value + write->value;
    work.errors.bytes = std::hypot(read->error, write->error);
  }
  return work;
}

class RowDivision {
 public:
  explicit RowDivision(const KernelRow& row) : row_(row), work_(WorkOf(row)) {
    const std::optional<double> roof_ns = RooflineTimeNs(row.roofline);
    const bool has_roof = roof_ns.has_value() && !row.roofline.communication &&
                          row.withheld.empty() && row.time_ns > 0;
    if (has_roof) savings_ns_ = std::max(0.0, row.time_ns - *roof_ns);
    if (has_roof && row.launches > 0) {
      // As kernel_summary.cc: the error of what the roof is made of.
      const double compute_ns = row.roofline.compute_time_ns.value_or(0);
      const double memory_ns = row.roofline.memory_time_ns.value_or(0);
      const bool memory = memory_ns >= compute_ns;
      const double share =
          memory ? Share(work_.errors.bytes, work_.bytes) : Share(work_.errors.flops, work_.flops);
      work_.errors.savings_ns = share * std::max(memory_ns, compute_ns) / row.launches;
    }
  }

  template <typename Take>
  void Divide(const std::vector<SitePart>& sites, const Take& take) const {
    double launches = 0, time_ns = 0;
    ByWindowGroup by_group{};
    for (const SitePart& site : sites) {
      launches += site.launches;
      time_ns += site.time_ns;
      Add(site.by_group, &by_group);
    }
    ExactShares time(std::llround(std::max(0.0, row_.time_ns)), time_ns);
    for (size_t i = 0; i < sites.size(); ++i) {
      const double time_share = time_ns > 0 ? sites[i].time_ns / time_ns : 0;
      const double launch_share = launches > 0 ? sites[i].launches / launches : 0;
      WorkPart part;
      part.time_ns = time.Next(sites[i].time_ns, i + 1 == sites.size());
      part.steady_ns = static_cast<double>(part.time_ns) * std::clamp(row_.steady_share, 0.0, 1.0);
      part.launches = launch_share * row_.launches;
      part.launch_residuals = ResidualsOf(sites[i], by_group);
      // Of launches that counters do not tell apart, the longer ones do more.
      const double of_one = row_.launches * time_share;
      if (work_.flops.has_value()) part.flops = *work_.flops * of_one;
      if (work_.bytes.has_value()) part.bytes = *work_.bytes * of_one;
      if (savings_ns_.has_value()) part.savings_ns = *savings_ns_ * time_share;
      if (work_.flops.has_value()) {
        part.compute_ns = row_.roofline.compute_time_ns.value_or(0) * time_share;
      }
      part.bound = row_.withheld.empty() ? BoundOf(row_.roofline) : BOUND_UNKNOWN;
      part.inferred = sites[i].inferred;
      part.part_of_layer = sites[i].part;
      part.without_counters = !work_.flops.has_value() && !work_.bytes.has_value();
      take(sites[i].stack, part);
    }
  }

  const RowErrors& errors() const { return work_.errors; }

 private:
  // What WorkPart::launch_residuals is of this site, by the launches of all sites in each group.
  ByWindowGroup ResidualsOf(const SitePart& site, const ByWindowGroup& kernel) const {
    ByWindowGroup residuals{};
    double of_kernel = 0, of_site = 0;
    for (size_t i = 0; i < kernel.size(); ++i) {
      of_kernel += kernel[i];
      of_site += site.by_group[i];
    }
    if (of_kernel <= 0) return residuals;
    const double between =
        std::max(0.0, row_.launches - static_cast<double>(row_.durations.count()));
    for (size_t i = 0; i < residuals.size(); ++i) {
      residuals[i] = between / of_kernel * (site.by_group[i] - of_site / of_kernel * kernel[i]);
    }
    return residuals;
  }

  static double Share(double error, const std::optional<double>& of) {
    return of.value_or(0) > 0 ? error / *of : 0;
  }

  const KernelRow& row_;
  RowWork work_;
  std::optional<double> savings_ns_;
};

using Sites = std::vector<SitePart>;

// A part of a site, which has so many of its launches.
SitePart PartOf(const SitePart& site, double launches, double time_ns) {
  SitePart part = site;
  part.launches = launches;
  part.time_ns = time_ns;
  const double share = site.launches > 0 ? launches / site.launches : 0;
  for (double& in_group : part.by_group) in_group *= share;
  return part;
}

// What was launched from a stack and is known to belong to another owner goes there.
void MoveToOwners(const std::vector<MovedWork>& work_of_nodes, std::vector<Sites>* sites) {
  std::map<std::pair<uint32_t, uint32_t>, SitePart> moved;  // by kernel and launching stack
  for (const MovedWork& work : work_of_nodes) {
    SitePart& from = moved[{work.kernel, work.launched_from}];
    from.launches += static_cast<double>(work.launches);
    from.time_ns += static_cast<double>(work.time_ns);
  }
  for (uint32_t kernel = 0; !moved.empty() && kernel < sites->size(); ++kernel) {
    for (SitePart& site : (*sites)[kernel]) {
      const auto from = moved.find({kernel, site.stack});
      if (from == moved.end()) continue;
      site = PartOf(site, std::max(0.0, site.launches - from->second.launches),
                    std::max(0.0, site.time_ns - from->second.time_ns));
    }
  }
  for (const MovedWork& work : work_of_nodes) {
    (*sites)[work.kernel].push_back({work.stack, static_cast<double>(work.launches),
                                     static_cast<double>(work.time_ns), !work.seen, work.part});
  }
}

// In order, each once; without those that have no launches.
void MergeSites(Sites* sites) {
  std::sort(sites->begin(), sites->end(),
            [](const SitePart& a, const SitePart& b) { return a.Order() < b.Order(); });
  Sites merged;
  for (const SitePart& site : *sites) {
    if (site.launches <= 0) continue;
    if (merged.empty() || merged.back().Order() != site.Order()) {
      merged.push_back(site);
      continue;
    }
    Add(site.by_group, &merged.back().by_group);
    merged.back().launches += site.launches;
    merged.back().time_ns += site.time_ns;
  }
  *sites = std::move(merged);
}

double MeanNs(const SitePart& site) { return site.launches > 0 ? site.time_ns / site.launches : 0; }

// Adds what each launched between windows, where steps are even.
void AddGaps(const EvenKernel& even, Sites* sites) {
  for (SitePart& site : *sites) {
    const auto found = even.in_gaps_by_stack.find(site.stack);
    if (found == even.in_gaps_by_stack.end()) continue;
    site = PartOf(site, site.launches + found->second, site.time_ns + found->second * MeanNs(site));
  }
}

// Of each kernel, what was recorded of launches without a stack as well.
std::vector<Sites> SitesOfKernels(const RunState& state, const Analysis& analysis,
                                  const std::vector<MovedWork>& work_of_nodes) {
  std::vector<Sites> sites(state.kernels.kernels().size());
  state.stack_work.ForEachSite([&](uint32_t kernel, uint32_t stack, const StackWork::Sums& sums) {
    SitePart site{stack, static_cast<double>(sums.launches), static_cast<double>(sums.time_ns)};
    std::copy(sums.launches_by_group.begin(), sums.launches_by_group.end(), site.by_group.begin());
    sites[kernel].push_back(site);
  });
  MoveToOwners(work_of_nodes, &sites);
  for (size_t i = 0; i < sites.size(); ++i) {
    MergeSites(&sites[i]);
    const DurationHistogram& durations = state.kernels[static_cast<uint32_t>(i)].durations;
    SitePart rest{0, static_cast<double>(durations.count()),
                  static_cast<double>(durations.sum_ns())};
    for (const SitePart& site : sites[i]) {
      rest.launches -= site.launches;
      rest.time_ns -= site.time_ns;
    }
    if (rest.launches >= 1 || sites[i].empty()) sites[i].push_back(rest);
    const EvenSteps& steps =
        analysis.devices[state.kernels[static_cast<uint32_t>(i)].device].even_steps;
    if (const auto even = steps.find(static_cast<uint32_t>(i)); even != steps.end()) {
      AddGaps(even->second, &sites[i]);
    }
  }
  return sites;
}

// The kinds of a kernel, in order of their mean times, take the launches of its sites in the same
// order: each kind has as many as were counted of it, and each site keeps its own.
std::vector<Sites> DivideAmongKinds(Sites sites, const std::vector<const KernelRow*>& rows) {
  std::stable_sort(sites.begin(), sites.end(),
                   [](const SitePart& a, const SitePart& b) { return MeanNs(a) < MeanNs(b); });
  double launches = 0, of_rows = 0;
  for (const SitePart& site : sites) launches += site.launches;
  for (const KernelRow* row : rows) of_rows += row->launches;
  std::vector<Sites> by_kind(rows.size());
  size_t kind = 0;
  double room = of_rows > 0 ? launches * rows[0]->launches / of_rows : launches;
  for (const SitePart& site : sites) {
    double left = site.launches;
    while (kind + 1 < rows.size() && left >= room) {
      if (room > 0) {
        by_kind[kind].push_back(PartOf(site, room, room * rows[kind]->durations.mean_ns()));
      }
      left -= room;
      room = launches * rows[++kind]->launches / of_rows;
    }
    if (left <= 0 && site.launches > 0) continue;
    const double time_ns =
        left < site.launches ? left * rows[kind]->durations.mean_ns() : site.time_ns;
    by_kind[kind].push_back(PartOf(site, left, time_ns));
    room -= left;
  }
  return by_kind;
}

// By the stacks before and after.
using IdlePairs = std::map<std::pair<uint32_t, uint32_t>, double>;

// How often a gap counts, times its length.
double WeightNs(const StackGap& gap, const DevicePart& part) {
  return gap.IsOne()
             ? part.gap_time.LengthNs(gap.start_ns, gap.end_ns)
             : part.time.MeanWeight(gap.start_ns, gap.end_ns) * static_cast<double>(gap.idle_ns);
}

IdlePairs PairsOf(const IdleByStack& idle, const DevicePart& part) {
  IdlePairs pairs;
  idle.ForEach([&](const StackGap& gap) {
    const double idle_ns = WeightNs(gap, part);
    if (idle_ns > 0) pairs[{gap.before, gap.after}] += idle_ns;
  });
  return pairs;
}

// By the stack after, and what threads of its process were in meanwhile. In short gaps a sample
// says little, and few have one.
IdlePairs SampledPairsOf(const ThreadStacks& samples, const IdleByStack& idle,
                         const DevicePart& part) {
  IdlePairs pairs;
  if (samples.empty()) return pairs;
  idle.ForEach([&](const StackGap& gap) {
    if (!gap.IsOne() || gap.idle_ns < IdleByStack::kLongNs) return;
    std::vector<uint32_t> inside;
    samples.ForEachIn(
        gap.source, gap.start_ns, gap.end_ns,
        [&inside](const ThreadStacks::Sample& sample) { inside.push_back(sample.stack); });
    const double idle_ns = WeightNs(gap, part);
    if (idle_ns <= 0) return;
    for (const uint32_t stack : inside) {
      pairs[{gap.after, stack}] += idle_ns / static_cast<double>(inside.size());
    }
  });
  return pairs;
}

}  // namespace

void DivideWork(const RunState& state, const Analysis& analysis, const GraphOwners& graph_owners,
                const std::function<void(uint32_t stack, size_t row, const WorkPart& part)>& take,
                const std::function<void(const RowErrors& errors)>& end_row) {
  const std::vector<Sites> sites = SitesOfKernels(state, analysis, graph_owners.work);
  std::map<uint32_t, std::vector<const KernelRow*>> rows_by_kernel;
  for (const KernelRow& row : analysis.rows) rows_by_kernel[row.kernel].push_back(&row);
  for (auto& entry : rows_by_kernel) {
    const uint32_t kernel = entry.first;
    std::vector<const KernelRow*>& rows = entry.second;
    std::sort(rows.begin(), rows.end(), [](const KernelRow* a, const KernelRow* b) {
      return a->durations.mean_ns() < b->durations.mean_ns();
    });
    std::vector<Sites> by_kind = DivideAmongKinds(sites[kernel], rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (by_kind[i].empty()) by_kind[i].push_back({0, 1, 1});
      const RowDivision division(*rows[i]);
      const auto row = static_cast<size_t>(rows[i] - analysis.rows.data());
      division.Divide(by_kind[i],
                      [&](uint32_t stack, const WorkPart& part) { take(stack, row, part); });
      end_row(division.errors());
    }
  }
}

int64_t DivideIdleTime(
    const RunState& state, const Analysis& analysis,
    const std::function<void(uint32_t before, uint32_t after, int64_t idle_ns)>& take,
    const std::function<void(uint32_t after, uint32_t inside, double idle_ns)>& take_sampled) {
  int64_t total_ns = 0;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    const DevicePart& part = analysis.devices[i].part;
    const int64_t idle_ns = std::llround(std::max(0.0, part.content.IdleNs()));
    const IdlePairs pairs = PairsOf(state.devices[i].idle_by_stack, part);
    double weights_ns = 0;
    for (const auto& [pair, weight_ns] : pairs) weights_ns += weight_ns;
    ExactShares shares(idle_ns, weights_ns);
    for (auto pair = pairs.begin(); pair != pairs.end(); ++pair) {
      take(pair->first.first, pair->first.second,
           shares.Next(pair->second, std::next(pair) == pairs.end()));
    }
    if (pairs.empty()) take(kNoStack, kNoStack, idle_ns);
    for (const auto& [pair, weight_ns] :
         SampledPairsOf(state.thread_stacks, state.devices[i].idle_by_stack, part)) {
      take_sampled(pair.first, pair.second, weight_ns / weights_ns * static_cast<double>(idle_ns));
    }
    total_ns += idle_ns;
  }
  return total_ns;
}

}  // namespace utlz
