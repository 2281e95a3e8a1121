#include "collector/attribution/engine.h"

#include <optional>
#include <utility>

#include "collector/attribution/clock_drift_correction.h"
#include "collector/attribution/column_report.h"
#include "collector/attribution/fit_model.h"
#include "collector/attribution/input_queue.h"
#include "collector/attribution/recording.h"
#include "collector/attribution/shift_groups.h"
#include "collector/attribution/shift_search.h"

namespace utlz::attribution {
namespace {

// Launches kept at the start, whatever the number of samples.
constexpr size_t kWarmupLaunches = size_t{1} << 19;
// Clocks drift slowly; looking costs as much as attributing some thousand samples. Where samples
// come in windows, time passes faster than they do.
constexpr size_t kSamplesBetweenLooks = 12'288;
constexpr int64_t kLongestBetweenLooksNs = 2'000'000'000;

}  // namespace

class Engine::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)), groups_(GroupCounters(options_.counters)), queue_(options_) {}

  void AddInterval(uint64_t variant, IntervalKind kind, int64_t start_ns, int64_t end_ns) {
    queue_.AddInterval(variant, kind, start_ns, end_ns);
  }
  void AddUntraced(int64_t start_ns, int64_t end_ns) { queue_.AddUntraced(start_ns, end_ns); }
  void AddSample(int64_t start_ns, int64_t end_ns, std::span<const double> values) {
    queue_.AddSample(start_ns, end_ns, values);
  }

  void AdvanceTo(int64_t watermark_ns) {
    queue_.Take(watermark_ns, &recording_);
    if (!model_) {
      if (recording_.samples.size() < options_.warmup_samples &&
          recording_.launches.size() < kWarmupLaunches) {
        return;
      }
      StartModel(1, &model_, &shifts_);
    } else {
      model_->Attribute(recording_, FitModel::Novelty::kNew);
      FollowClock();
    }
    recording_.Clear();
  }

  Solution Solve(unsigned threads) const {
    Solution solution;
    solution.quality = queue_.quality();
    if (model_) {
      solution.shifts = shifts_;
      Report(*model_, threads, &solution);
    } else {
      std::optional<FitModel> model;
      StartModel(threads, &model, &solution.shifts);
      Report(*model, threads, &solution);
    }
    return solution;
  }

 private:
  void StartModel(unsigned threads, std::optional<FitModel>* model,
                  std::vector<ShiftEstimate>* shifts) const {
    const size_t variants = queue_.variants().size();
    const std::optional<Recording> straight =
        WithoutClockDrift(recording_, variants, groups_, threads);
    const Recording& recording = straight ? *straight : recording_;
    *shifts = SearchShifts(recording, variants, groups_, threads);
    std::vector<double> used_ns;
    std::vector<double> edge_errors_ns;
    for (const ShiftEstimate& shift : *shifts) {
      used_ns.push_back(shift.used_shift_ns);
      edge_errors_ns.push_back(EdgeErrorNs(shift));
    }
    model->emplace(groups_, options_.counters.size(),
                   ColumnPlan(recording, variants, options_.max_columns), std::move(used_ns),
                   std::move(edge_errors_ns));
    (*model)->Begin(recording, threads);
    (*model)->Attribute(recording, FitModel::Novelty::kLearned);
  }

  // Gathers a short recording now and then, and moves the shifts by it.
  void FollowClock() {
    if (recording_.samples.empty()) return;
    samples_since_look_ += recording_.samples.size();
    const int64_t now_ns = recording_.samples.back().end_ns;
    if (look_.samples.empty() && samples_since_look_ < kSamplesBetweenLooks &&
        now_ns - looked_ns_ < kLongestBetweenLooksNs) {
      return;
    }
    look_.counters = recording_.counters;
    look_.launches.insert(look_.launches.end(), recording_.launches.begin(),
                          recording_.launches.end());
    look_.samples.insert(look_.samples.end(), recording_.samples.begin(), recording_.samples.end());
    look_.values.insert(look_.values.end(), recording_.values.begin(), recording_.values.end());
    if (look_.samples.size() < kFollowSamples && look_.launches.size() < kWarmupLaunches) return;
    FollowShifts(look_, queue_.variants().size(), groups_, &shifts_);
    std::vector<double> used_ns;
    for (const ShiftEstimate& shift : shifts_) used_ns.push_back(shift.used_shift_ns);
    model_->set_shifts(std::move(used_ns));
    look_.Clear();
    samples_since_look_ = 0;
    looked_ns_ = now_ns;
  }

  void Report(const FitModel& model, unsigned threads, Solution* solution) const {
    ReportColumns(model, queue_.variants(), options_, threads, solution);
    solution->quality.crowded_intervals = model.crowded();
  }

  Options options_;
  std::vector<ShiftGroup> groups_;
  InputQueue queue_;
  Recording recording_;  // of the warm-up, later of one stretch
  std::optional<FitModel> model_;
  std::vector<ShiftEstimate> shifts_;
  Recording look_;
  size_t samples_since_look_ = 0;
  int64_t looked_ns_ = 0;
};

Engine::Engine(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

void Engine::AddInterval(uint64_t variant, IntervalKind kind, int64_t start_ns, int64_t end_ns) {
  impl_->AddInterval(variant, kind, start_ns, end_ns);
}

void Engine::AddUntraced(int64_t start_ns, int64_t end_ns) { impl_->AddUntraced(start_ns, end_ns); }

void Engine::AddSample(int64_t start_ns, int64_t end_ns, std::span<const double> values) {
  impl_->AddSample(start_ns, end_ns, values);
}

void Engine::AdvanceTo(int64_t watermark_ns) { impl_->AdvanceTo(watermark_ns); }

Solution Engine::Solve(unsigned threads) const { return impl_->Solve(threads); }

}  // namespace utlz::attribution
