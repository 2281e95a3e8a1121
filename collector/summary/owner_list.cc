#include "collector/summary/owner_list.h"

#include <algorithm>
#include <cmath>

namespace utlz {
namespace {

void AddTo(std::optional<double>* sum, const std::optional<double>& value) {
  if (value.has_value()) *sum = sum->value_or(0) + *value;
}

double Square(double value) { return value * value; }

WorkPart AsIn(const OwnerList::Owner& owner, WorkPart part) {
  part.inferred = part.inferred || owner.is_inferred;
  return part;
}

// FLOPs, bytes and savings, as far as they are known.
void DescribeWork(const OwnerAmount& all, const OwnerAmount& own, OwnerSummary* summary) {
  if (all.flops.has_value()) {
    summary->set_flops(*all.flops);
    summary->set_flops_error(all.FlopsError());
    summary->set_own_flops(own.flops.value_or(0));
    if (all.time_ns > 0 && all.compute_ns > 0) {
      summary->set_hfu(std::min(1.0, all.compute_ns / static_cast<double>(all.time_ns)));
    }
  }
  if (all.bytes.has_value()) {
    summary->set_dram_bytes(*all.bytes);
    summary->set_dram_bytes_error(all.BytesError());
    summary->set_own_dram_bytes(own.bytes.value_or(0));
  }
  if (all.savings_ns.has_value()) {
    summary->set_estimated_savings_ns(*all.savings_ns);
    summary->set_estimated_savings_error_ns(all.SavingsError());
  }
}

// Parts of the time: without counters, of backward passes, of recomputation, inferred.
void DescribeParts(const OwnerAmount& all, const OwnerAmount& own, OwnerSummary* summary) {
  summary->set_time_without_counters_ns(static_cast<double>(all.without_counters_ns));
  if (all.without_flops_ns > 0) {
    summary->set_time_without_flops_ns(static_cast<double>(all.without_flops_ns));
  }
  if (all.backward_ns > 0) {
    summary->set_backward_time_ns(static_cast<double>(all.backward_ns));
    summary->set_own_backward_time_ns(static_cast<double>(own.backward_ns));
  }
  if (all.recomputation_ns > 0) {
    summary->set_recomputation_time_ns(static_cast<double>(all.recomputation_ns));
    summary->set_own_recomputation_time_ns(static_cast<double>(own.recomputation_ns));
  }
  if (all.inferred_ns > 0) summary->set_inferred_time_ns(static_cast<double>(all.inferred_ns));
}

// `work`: flops, bytes or saved time of the part.
void AddResiduals(const WorkPart& part, const std::optional<double>& work,
                  ByWindowGroup* residuals) {
  if (!work.has_value() || part.launches <= 0) return;
  const double of_one = *work / part.launches;
  for (size_t i = 0; i < residuals->size(); ++i)
    (*residuals)[i] += of_one * part.launch_residuals[i];
}

// Adds the variance of a share that groups of windows estimate, by their residuals (the variance of
// a ratio estimator over clusters).
double ErrorOf(double variance, const ByWindowGroup& residuals) {
  constexpr double kGroups = StackWork::kGroups;
  for (const double one : residuals) variance += kGroups / (kGroups - 1) * Square(one);
  return std::sqrt(variance);
}

}  // namespace

void OwnerAmount::Add(const WorkPart& part) {
  time_ns += part.time_ns;
  launches += part.launches;
  row_launches += part.launches;
  steady_ns += part.steady_ns;
  if (part.without_counters) without_counters_ns += part.time_ns;
  if (!part.flops.has_value()) without_flops_ns += part.time_ns;
  if (part.inferred) inferred_ns += part.time_ns;
  if (part.pass == LaunchPass::kBackward) backward_ns += part.time_ns;
  if (part.pass == LaunchPass::kRecomputation) recomputation_ns += part.time_ns;
  AddTo(&flops, part.flops);
  AddTo(&bytes, part.bytes);
  AddTo(&savings_ns, part.savings_ns);
  AddResiduals(part, part.flops, &flops_residuals);
  AddResiduals(part, part.bytes, &bytes_residuals);
  AddResiduals(part, part.savings_ns, &savings_residuals);
  compute_ns += part.compute_ns;
  bound_ns[static_cast<size_t>(part.bound)] += part.time_ns;
}

// Launches of one row are wrong together, those of different rows apart.
void OwnerAmount::EndRow(const RowErrors& errors) {
  flops_variance += Square(errors.flops * row_launches);
  bytes_variance += Square(errors.bytes * row_launches);
  savings_variance += Square(errors.savings_ns * row_launches);
  row_launches = 0;
}

void OwnerAmount::Add(const OwnerAmount& other) {
  time_ns += other.time_ns;
  idle_ns += other.idle_ns;
  steady_ns += other.steady_ns;
  without_counters_ns += other.without_counters_ns;
  without_flops_ns += other.without_flops_ns;
  inferred_ns += other.inferred_ns;
  backward_ns += other.backward_ns;
  recomputation_ns += other.recomputation_ns;
  launches += other.launches;
  AddTo(&flops, other.flops);
  AddTo(&bytes, other.bytes);
  AddTo(&savings_ns, other.savings_ns);
  compute_ns += other.compute_ns;
  flops_variance += other.flops_variance;
  bytes_variance += other.bytes_variance;
  savings_variance += other.savings_variance;
  for (size_t i = 0; i < flops_residuals.size(); ++i) {
    flops_residuals[i] += other.flops_residuals[i];
    bytes_residuals[i] += other.bytes_residuals[i];
    savings_residuals[i] += other.savings_residuals[i];
  }
  for (size_t i = 0; i < bound_ns.size(); ++i) bound_ns[i] += other.bound_ns[i];
}

double OwnerAmount::FlopsError() const { return ErrorOf(flops_variance, flops_residuals); }
double OwnerAmount::BytesError() const { return ErrorOf(bytes_variance, bytes_residuals); }
double OwnerAmount::SavingsError() const { return ErrorOf(savings_variance, savings_residuals); }

int OwnerList::Find(const std::string& key, int parent, const OwnerSummary& head) {
  const auto [entry, is_new] = by_key_.try_emplace(key, static_cast<int>(owners_.size()));
  if (is_new) {
    owners_.emplace_back();
    owners_.back().head = head;
    owners_.back().parent = parent;
  }
  return entry->second;
}

void OwnerList::Add(int owner, size_t row, const WorkPart& part) {
  Owner& itself = owners_[static_cast<size_t>(owner)];
  itself.own.Add(AsIn(itself, part));
  if (itself.own_rows.empty() || itself.own_rows.back().first != row) {
    itself.own_rows.emplace_back(row, 0);
  }
  itself.own_rows.back().second += part.time_ns;
  for (; owner != kNone; owner = owners_[static_cast<size_t>(owner)].parent) {
    Owner& one = owners_[static_cast<size_t>(owner)];
    one.all.Add(AsIn(one, part));
    if (!one.in_row) touched_.push_back(owner);
    one.in_row = true;
  }
}

void OwnerList::EndRow(const RowErrors& errors) {
  for (const int owner : touched_) {
    Owner& one = owners_[static_cast<size_t>(owner)];
    one.own.EndRow(errors);
    one.all.EndRow(errors);
    one.in_row = false;
  }
  touched_.clear();
}

void OwnerList::AddIdle(int owner, int before, int64_t idle_ns) {
  owners_[static_cast<size_t>(owner)].own.idle_ns += idle_ns;
  for (; owner != kNone; owner = owners_[static_cast<size_t>(owner)].parent) {
    Owner& one = owners_[static_cast<size_t>(owner)];
    one.all.idle_ns += idle_ns;
    one.idle_after_ns[before] += idle_ns;
  }
}

void OwnerList::DescribeIdle(const Owner& owner, OwnerSummary* summary) const {
  summary->set_idle_before_ns(static_cast<double>(owner.all.idle_ns));
  summary->set_own_idle_before_ns(static_cast<double>(owner.own.idle_ns));
  const auto most = std::max_element(
      owner.idle_after_ns.begin(), owner.idle_after_ns.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second < b.second : a.first > b.first;
      });
  if (most != owner.idle_after_ns.end() && most->second > 0 && most->first != kNone) {
    summary->set_idle_after(owners_[static_cast<size_t>(most->first)].head.name());
  }
}

OwnerSummary OwnerList::Describe(size_t index, double all_ns, bool with_idle) const {
  const Owner& owner = owners_[index];
  const OwnerAmount& all = owner.all;
  OwnerSummary summary = owner.head;
  summary.set_time_ns(static_cast<double>(all.time_ns));
  summary.set_own_time_ns(static_cast<double>(owner.own.time_ns));
  if (all_ns > 0) summary.set_time_share(static_cast<double>(all.time_ns) / all_ns);
  if (all.time_ns > 0) {
    summary.set_steady_state_share(
        std::clamp(all.steady_ns / static_cast<double>(all.time_ns), 0.0, 1.0));
  }
  summary.set_launches(all.launches);
  summary.set_own_launches(owner.own.launches);
  if (with_idle) DescribeIdle(owner, &summary);
  DescribeWork(all, owner.own, &summary);
  DescribeParts(all, owner.own, &summary);
  const auto bound = std::max_element(all.bound_ns.begin(), all.bound_ns.end());
  summary.set_bound(static_cast<Bound>(bound - all.bound_ns.begin()));
  return summary;
}

}  // namespace utlz
