#include "collector/model/step_summary.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

namespace utlz {
namespace {

constexpr size_t kMaxListed = 2000;
constexpr size_t kMaxSlow = 100;

struct Found {
  std::string source;
  std::vector<Step> steps;
};

Found FindSteps(const ModelState& model) {
  Found found = {.source = "nvtx", .steps = {}};
  for (const auto& [start_ns, end_ns] : model.step_marks.Steps()) {
    found.steps.push_back({.start_ns = start_ns, .end_ns = end_ns});
  }
  if (!found.steps.empty()) return found;
  // Devices of one job step together: the one with most steps speaks for all.
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    std::vector<Step> steps = model.devices[i].steps.Steps();
    if (steps.size() > found.steps.size()) found = {.source = "pattern", .steps = std::move(steps)};
  }
  return found;
}

double Length(const Step& step) { return static_cast<double>(step.end_ns - step.start_ns); }

double Quantile(std::vector<double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

std::string Milliseconds(double time_ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g ms", time_ns * 1e-6);
  return text.data();
}

std::string ReasonFor(const Step& step, double median_ns, double median_kernel_ns) {
  if (step.launches == 0) return "longer by " + Milliseconds(Length(step) - median_ns);
  const double more_ns = Length(step) - median_ns;
  const double more_kernel_ns = static_cast<double>(step.kernel_time_ns) - median_kernel_ns;
  if (more_kernel_ns > 0.5 * more_ns) {
    return "kernels took " + Milliseconds(more_kernel_ns) + " more";
  }
  return "no kernel ran for " + Milliseconds(more_ns - more_kernel_ns) + " more";
}

// Steps at the start that are slow one after the other.
size_t WarmupSteps(const std::vector<Step>& steps, double median_ns) {
  size_t warmup = 0;
  while (warmup < steps.size() && Length(steps[warmup]) > kSlowStep * median_ns) ++warmup;
  return warmup;
}

}  // namespace

void SummarizeSteps(const ModelState& model, Summary* summary) {
  const Found found = FindSteps(model);
  const std::vector<Step>& steps = found.steps;
  if (steps.size() < 2) return;
  std::vector<double> all;
  for (const Step& step : steps) all.push_back(Length(step));
  std::sort(all.begin(), all.end());
  const size_t warmup = WarmupSteps(steps, Quantile(all, 0.5));
  std::vector<double> lengths;
  std::vector<double> kernel_times;
  double sum_ns = 0;
  double kernel_sum_ns = 0;
  double launches = 0;
  for (size_t i = warmup; i < steps.size(); ++i) {
    lengths.push_back(Length(steps[i]));
    kernel_times.push_back(static_cast<double>(steps[i].kernel_time_ns));
    sum_ns += lengths.back();
    kernel_sum_ns += kernel_times.back();
    launches += steps[i].launches;
  }
  std::sort(lengths.begin(), lengths.end());
  std::sort(kernel_times.begin(), kernel_times.end());
  const auto count = static_cast<double>(lengths.size());
  const double median_ns = Quantile(lengths, 0.5);
  StepsSummary* result = summary->mutable_steps();
  result->set_source(found.source);
  result->set_steps(steps.size());
  result->set_warmup_steps(warmup);
  result->set_time_mean_ns(sum_ns / count);
  result->set_time_p50_ns(median_ns);
  result->set_time_p99_ns(Quantile(lengths, 0.99));
  if (launches > 0) {
    result->set_kernel_time_ns(kernel_sum_ns / count);
    result->set_launches(launches / count);
  }
  const uint64_t origin_ns = model.run_start.has_value() ? model.run_start->time_ns() : steps[0].start_ns;
  for (size_t i = 0; i < std::min(steps.size(), kMaxListed); ++i) {
    result->add_time_ns(Length(steps[i]));
    result->add_start_ns(static_cast<double>(steps[i].start_ns) - static_cast<double>(origin_ns));
    const bool slow = i >= warmup && Length(steps[i]) > kSlowStep * median_ns;
    if (!slow || static_cast<size_t>(result->slow_size()) >= kMaxSlow) continue;
    result->add_slow(static_cast<uint32_t>(i));
    result->add_slow_reason(ReasonFor(steps[i], median_ns, Quantile(kernel_times, 0.5)));
  }
}

}  // namespace utlz
