#include "collector/analysis/operation_axis.h"

#include <algorithm>

#include "collector/run/untraced_time.h"

namespace utlz {
namespace {

// Less of it is a rounding error.
constexpr double kUnknownNs = 1;

}  // namespace

OperationAxis::OperationAxis(const RunState& state, uint32_t device)
    : ledger_(&state.devices[device].ledger) {
  for (const auto& [source, process] : state.processes.processes()) {
    if (Uses(*process, device)) AddGapsOf(*process, state.NewestNs());
  }
}

OperationAxis::OperationAxis(const RunState& state, uint32_t device, uint32_t source,
                             const ActivityTotals& ledger)
    : ledger_(&ledger) {
  const auto& processes = state.processes.processes();
  const auto found = processes.find(source);
  if (found != processes.end() && Uses(*found->second, device)) {
    AddGapsOf(*found->second, state.NewestNs());
  }
}

void OperationAxis::AddGapsOf(const ProcessState& process, uint64_t newest_ns) {
  const uint64_t now_ns = process.LivedUntilNs(newest_ns);
  end_ns_ = std::max(end_ns_, now_ns);
  const std::vector<WindowGaps::Span> spans = WindowGaps(process.windows).Spans(now_ns);
  gaps_.push_back(GapsOf(spans, ShareOf(process, spans)));
}

// Of the process's operations, those on this device.
double OperationAxis::ShareOf(const ProcessState& process,
                              const std::vector<WindowGaps::Span>& spans) const {
  if (process.DevicesHeld().size() <= 1) return 1;
  double here = 0;
  double all = 0;
  for (const WindowGaps::Span& span : spans) {
    if (!span.traced || !span.operations.has_value()) continue;
    here += ledger_->OperationsBetween(span.start_ns, span.end_ns);
    all += static_cast<double>(*span.operations);
  }
  return all > 0 ? std::min(1.0, here / all) : 1;
}

OperationAxis::Gaps OperationAxis::GapsOf(const std::vector<WindowGaps::Span>& spans,
                                          double share) {
  Gaps gaps;
  Sums sums;
  for (const WindowGaps::Span& span : spans) {
    if (span.traced || span.end_ns <= span.start_ns) continue;
    gaps.push_back({span.start_ns, sums});
    if (span.operations.has_value()) {
      sums.operations += share * static_cast<double>(*span.operations);
    } else {
      sums.unknown_ns += static_cast<double>(span.end_ns - span.start_ns);
    }
    gaps.push_back({span.end_ns, sums});
  }
  return gaps;
}

OperationAxis::Sums OperationAxis::Until(const Gaps& gaps, uint64_t time_ns) {
  const auto after =
      std::upper_bound(gaps.begin(), gaps.end(), time_ns,
                       [](uint64_t time, const Point& point) { return time < point.time_ns; });
  if (after == gaps.begin()) return {};
  const Point& before = *(after - 1);
  if (after == gaps.end()) return before.sums;
  const double share = static_cast<double>(time_ns - before.time_ns) /
                       static_cast<double>(after->time_ns - before.time_ns);
  const auto mix = [share](double low, double high) { return low + share * (high - low); };
  return {.operations = mix(before.sums.operations, after->sums.operations),
          .unknown_ns = mix(before.sums.unknown_ns, after->sums.unknown_ns)};
}

std::optional<double> OperationAxis::Between(uint64_t start_ns, uint64_t end_ns) const {
  if (end_ns <= start_ns) return 0;
  double operations = ledger_->OperationsBetween(start_ns, end_ns);
  for (const Gaps& gaps : gaps_) {
    const Sums before = Until(gaps, start_ns);
    const Sums after = Until(gaps, end_ns);
    if (after.unknown_ns - before.unknown_ns >= kUnknownNs) return std::nullopt;
    operations += after.operations - before.operations;
  }
  return operations;
}

}  // namespace utlz
