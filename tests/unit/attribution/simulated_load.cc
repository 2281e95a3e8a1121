#include "tests/unit/attribution/simulated_load.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace utlz::attribution {
namespace {

constexpr int64_t kStartNs = 1'000'000'000'000;

// Adds `work`, spread evenly over [from, to), to samples of equal length.
void Spread(double from, double to, double work, double sample_ns, std::vector<double>* samples) {
  const double rate = work / (to - from);
  for (auto index = static_cast<size_t>(std::max(0.0, from / sample_ns)); index < samples->size();
       ++index) {
    const double begin = static_cast<double>(index) * sample_ns;
    if (begin >= to) break;
    const double overlap = std::min(to, begin + sample_ns) - std::max(from, begin);
    (*samples)[index] += std::max(0.0, overlap) * rate;
  }
}

}  // namespace

std::vector<SimulatedKernel> RandomStep(double shortest_ns, std::mt19937_64* random) {
  std::uniform_real_distribution<double> share;
  const auto kernels = 3 + static_cast<uint64_t>(12 * share(*random));
  std::vector<SimulatedKernel> step;
  for (uint64_t variant = 1; variant <= kernels; ++variant) {
    SimulatedKernel kernel;
    kernel.variant = variant;
    kernel.duration_ns = shortest_ns * std::pow(30'000 / shortest_ns, share(*random));
    kernel.begin_share = 0.3 * share(*random);
    kernel.end_share = 1 - 0.3 * share(*random);
    kernel.gap_after_ns = share(*random) < 0.2 ? 2500 : 100 + 300 * share(*random);
    kernel.work = 4 * std::pow(1000.0, share(*random)) * kernel.duration_ns *
                  (kernel.end_share - kernel.begin_share);
    step.push_back(kernel);
  }
  return step;
}

SimulatedLoad Simulate(const std::vector<SimulatedKernel>& step, const SimulationOptions& options) {
  std::mt19937_64 random(options.seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uneven(1 - options.uneven_launches,
                                                1 + options.uneven_launches);
  SimulatedLoad load;
  struct Work {
    double from, to, amount;
  };
  std::vector<Work> works;
  double now = 20'000;
  for (size_t i = 0; i < options.steps; ++i) {
    for (const SimulatedKernel& kernel : step) {
      const double size = options.uneven_launches > 0 ? uneven(random) : 1;
      const double duration = std::round(
          size * kernel.duration_ns * std::max(0.5, 1 + options.duration_jitter * normal(random)));
      load.launches.push_back({kernel.variant, kStartNs + static_cast<int64_t>(now),
                               kStartNs + static_cast<int64_t>(now + duration)});
      const double shift = options.shift_ns + options.drift_ns_per_ms * now * 1e-6;
      works.push_back(
          {now + kernel.begin_share * duration + shift, now + kernel.end_share * duration + shift,
           size * kernel.work * std::max(0.0, 1 + options.work_noise * normal(random))});
      // Uneven gaps, as an eager program makes them: samples fall at every phase.
      now += duration + kernel.gap_after_ns *
                            (1 + options.gap_jitter * (0.4 * std::abs(normal(random)) - 0.2));
      now = std::round(now);
    }
  }
  std::vector<double> values(static_cast<size_t>((now + 40'000) / options.sample_ns),
                             options.idle_per_us * options.sample_ns * 1e-3);
  for (const Work& work : works) {
    Spread(work.from, work.to, work.amount, options.sample_ns, &values);
  }
  std::uniform_real_distribution<double> uniform;
  for (size_t i = 0; i < values.size(); ++i) {
    if (uniform(random) < options.lost_samples) continue;
    const auto start = kStartNs + static_cast<int64_t>(static_cast<double>(i) * options.sample_ns);
    double value = values[i];
    if (options.sample_noise > 0) {
      value *= std::max(0.0, 1 + options.sample_noise * normal(random));
    }
    load.samples.push_back({start, start + static_cast<int64_t>(options.sample_ns), value});
  }
  return load;
}

Options OneCounter() {
  Options options;
  options.counters = {{"bytes", "dram"}};
  return options;
}

void SimulatedLoad::Feed(Engine* engine) const {
  for (const SimulatedLaunch& launch : launches) {
    engine->AddInterval(launch.variant, IntervalKind::kKernel, launch.start_ns, launch.end_ns);
  }
  for (const SimulatedSample& sample : samples) {
    const std::array<double, 1> values = {sample.value};
    engine->AddSample(sample.start_ns, sample.end_ns, values);
  }
  engine->AdvanceTo(samples.back().end_ns + 1'000'000);
}

void SimulatedLoad::Stream(Engine* engine) const {
  constexpr int64_t kBatchNs = 5'000'000;
  constexpr int64_t kAheadNs = 100'000;
  size_t launch = 0;
  int64_t batch_end_ns = samples.front().start_ns + kBatchNs;
  for (const SimulatedSample& sample : samples) {
    for (; launch < launches.size() && launches[launch].start_ns < sample.end_ns + kAheadNs;
         ++launch) {
      engine->AddInterval(launches[launch].variant, IntervalKind::kKernel,
                          launches[launch].start_ns, launches[launch].end_ns);
    }
    const std::array<double, 1> values = {sample.value};
    engine->AddSample(sample.start_ns, sample.end_ns, values);
    if (sample.end_ns < batch_end_ns) continue;
    engine->AdvanceTo(sample.end_ns + kAheadNs);
    batch_end_ns += kBatchNs;
  }
  engine->AdvanceTo(samples.back().end_ns + 1'000'000);
}

double PerLaunch(const Solution& solution, uint64_t variant, size_t counter) {
  double sum = 0;
  double launches = 0;
  for (const ColumnEstimate& column : solution.columns) {
    if (column.variant != variant || !column.counters[counter].per_launch) continue;
    const auto count = static_cast<double>(column.launches);
    sum += *column.counters[counter].per_launch * count;
    launches += count;
  }
  return launches > 0 ? sum / launches : 0;
}

}  // namespace utlz::attribution
