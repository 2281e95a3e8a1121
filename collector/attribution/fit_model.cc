#include "collector/attribution/fit_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "collector/each_in_threads.h"

namespace utlz::attribution {
namespace {

// New fits come at growing distances, so that their cost for a sample falls over a long run.
constexpr double kFitGrowth = 2;
// Once every launch in a sample is of a kind known from so many samples, few more are learned: the
// cost of learning grows with the square of the shapes' coefficients.
constexpr uint32_t kWellKnownSamples = 4000;
constexpr uint64_t kLearnOneOf = 7;
// A launch's value counts when samples and short holes between them span it whole, and samples
// this share of it.
constexpr double kWholeShare = 0.999;
constexpr double kSampledShare = 0.5;
constexpr int64_t kLongestHoleNs = 1'000'000;
// An edge is not placed better than this, so that a rate beyond it over less time says nothing.
constexpr double kEdgeNs = 500;

// The greatest rates, in counts for each nanosecond, at which launches worked in one sample.
struct GreatestRates {
  size_t first_piece = SIZE_MAX;
  double first = 0;
  double second = 0;

  // Of the other launches, where the one of `piece` begins or ends in the sample.
  double Beside(size_t piece, double overlap_ns, const Sample& sample) const {
    if (overlap_ns >= static_cast<double>(sample.end_ns - sample.start_ns)) return 0;
    return piece == first_piece ? second : first;
  }
};

GreatestRates FindGreatestRates(const Coverage& coverage, const std::vector<double>& parts) {
  GreatestRates greatest;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double rate = parts[i] / std::max(coverage.pieces[i].overlap_ns, kEdgeNs);
    if (rate > greatest.first) {
      greatest.second = greatest.first;
      greatest.first = rate;
      greatest.first_piece = i;
    } else {
      greatest.second = std::max(greatest.second, rate);
    }
  }
  return greatest;
}

}  // namespace

FitModel::FitModel(const std::vector<ShiftGroup>& groups, size_t counters, ColumnPlan plan,
                   std::vector<double> shifts_ns, std::vector<double> edge_errors_ns)
    : groups_(groups),
      counters_(counters),
      plan_(std::move(plan)),
      shifts_ns_(std::move(shifts_ns)),
      edge_errors_ns_(std::move(edge_errors_ns)),
      walker_(counters, shifts_ns_, SampleWalker::Detail::kShapes),
      totals_(counters) {
  fits_ = EmptyFits();
  MakeRoom();
}

void FitModel::set_shifts(std::vector<double> shifts_ns) {
  shifts_ns_ = std::move(shifts_ns);
  walker_.set_shifts(shifts_ns_);
}

void FitModel::MakeRoom() {
  const size_t columns = plan_.columns().size();
  statistics_.resize(columns * counters_);
  launches_.resize(columns);
  durations_.resize(columns);
  learned_.resize(columns);
}

void FitModel::CountLaunches(const Recording& recording) {
  for (const Launch& launch : recording.launches) {
    const uint32_t column = plan_.ColumnOf(launch);
    if (column >= launches_.size()) MakeRoom();
    ++launches_[column];
    Durations& durations = durations_[column];
    durations.sum_ns += launch.end_ns - launch.start_ns;
    const double distance_ns =
        static_cast<double>(launch.end_ns - launch.start_ns) - durations.mean_ns;
    durations.mean_ns += distance_ns / static_cast<double>(launches_[column]);
    durations.squares +=
        distance_ns * (static_cast<double>(launch.end_ns - launch.start_ns) - durations.mean_ns);
  }
}

double FitModel::mean_duration_ns(size_t column) const { return durations_[column].mean_ns; }

double FitModel::duration_variance(size_t column) const {
  const uint64_t launches = launches_[column];
  return launches < 2 ? 0 : durations_[column].squares / static_cast<double>(launches - 1);
}

void FitModel::FitAll() {
  for (RateFit& fit : fits_) fit.Fit(plan_);
}

std::vector<RateFit> FitModel::EmptyFits() const {
  std::vector<RateFit> fits;
  fits.reserve(groups_.size());
  for (const ShiftGroup& group : groups_) {
    fits.emplace_back(plan_.max_coefficients(), group.counters);
  }
  return fits;
}

// With each shift another by its standard error, to `side`; 0 leaves them.
std::vector<RateFit> FitModel::LearnAll(const Recording& recording, double side) const {
  std::vector<double> shifts_ns = shifts_ns_;
  for (size_t group = 0; group < groups_.size(); ++group) {
    shifts_ns[group] += side * edge_errors_ns_[group];
  }
  std::vector<RateFit> fits = EmptyFits();
  ColumnPlan plan = plan_;  // which has columns for all launches
  SampleWalker walker(counters_, shifts_ns, SampleWalker::Detail::kShapes);
  size_t cursor = 0;
  for (size_t i = 0; i < recording.samples.size(); ++i) {
    walker.MoveTo(recording.samples[i], recording.launches, &cursor, &plan);
    for (size_t group = 0; group < groups_.size(); ++group) {
      fits[group].Observe(walker.coverage(group));
      fits[group].Learn(walker.coverage(group), recording.Values(i));
    }
  }
  return fits;
}

// What the columns would have if the shifts were others.
void FitModel::AddMoved(const std::vector<RateFit>& fits, double side) {
  for (const RateFit& fit : fits) {
    for (size_t column = 0; column < plan_.columns().size(); ++column) {
      for (size_t index = 0; index < fit.counters().size(); ++index) {
        moved_[column * counters_ + fit.counters()[index]] +=
            side * fit.FittedTotal(index, plan_.columns()[column]);
      }
    }
  }
}

// Of columns that the first recording has launches of: later ones keep the bound by their
// neighbours.
void FitModel::SetSensitivities() {
  sensitivities_.assign(moved_.size(), std::nullopt);
  for (size_t group = 0; group < groups_.size(); ++group) {
    const double between_ns = 2 * edge_errors_ns_[group];
    for (const size_t counter : groups_[group].counters) {
      for (size_t at = counter; at < moved_.size(); at += counters_) {
        const double launches = statistics_[at].covered_launches();
        if (launches > 0 && between_ns > 0) {
          sensitivities_[at] = std::abs(moved_[at]) / between_ns / launches;
        }
      }
    }
  }
}

std::optional<double> FitModel::ShiftSensitivity(size_t column, size_t counter) const {
  const size_t at = column * counters_ + counter;
  return at < sensitivities_.size() ? sensitivities_[at] : std::nullopt;
}

void FitModel::Begin(const Recording& recording, unsigned threads) {
  constexpr std::array<double, 3> kSides = {0, -1, 1};
  std::array<std::vector<RateFit>, kSides.size()> learned;
  EachInThreads(kSides.size(), threads,
                [&](size_t i) { learned[i] = LearnAll(recording, kSides[i]); });
  learned_samples_ += static_cast<double>(recording.samples.size());
  next_fit_ = kFitGrowth * learned_samples_;
  fits_ = std::move(learned[0]);
  EachInThreads(fits_.size(), threads, [&](size_t group) { fits_[group].Fit(plan_); });
  EachInThreads(2 * fits_.size(), threads,
                [&](size_t i) { learned[1 + i % 2][i / 2].Fit(plan_, &fits_[i / 2]); });
  moved_.resize(plan_.columns().size() * counters_);
  for (const size_t i : {1, 2}) AddMoved(learned[i], kSides[i]);
}

void FitModel::Attribute(const Recording& recording, Novelty novelty) {
  CountLaunches(recording);
  size_t cursor = 0;
  for (size_t i = 0; i < recording.samples.size(); ++i) {
    const Sample& sample = recording.samples[i];
    const bool follows = sample.start_ns - sampled_to_ns_ <= kLongestHoleNs;
    if (follows) ImputeHole(sample, recording.launches, &cursor);
    sampled_to_ns_ = sample.end_ns;
    walker_.MoveTo(sample, recording.launches, &cursor, &plan_);
    Retire();
    clusters_.MoveTo(sample.start_ns, follows);
    const bool learn = novelty == Novelty::kNew && WorthLearning();
    for (size_t group = 0; group < groups_.size(); ++group) {
      if (novelty == Novelty::kNew) fits_[group].Observe(walker_.coverage(group));
      if (learn) fits_[group].Learn(walker_.coverage(group), recording.Values(i));
      SplitAmongActive(sample, group, recording.Values(i));
    }
  }
  walker_.Admit(recording.launches, &cursor, &plan_);
  if (novelty == Novelty::kLearned) {
    SetSensitivities();
    return;
  }
  learned_samples_ += static_cast<double>(recording.samples.size());
  if (learned_samples_ >= next_fit_) {
    FitAll();
    next_fit_ = kFitGrowth * learned_samples_;
  }
}

bool FitModel::WorthLearning() {
  if (groups_.empty()) return false;
  bool worth = considered_++ % kLearnOneOf == 0;
  for (const Coverage::Piece& piece : walker_.coverage(0).pieces) {
    uint32_t& learned = learned_[piece.column];
    if (learned < kWellKnownSamples) {
      ++learned;
      worth = true;
    }
  }
  return worth;
}

// In pieces as long as the sample after it: no more launches may overlap in one than in a sample.
void FitModel::ImputeHole(const Sample& next, const std::vector<Launch>& launches, size_t* cursor) {
  const int64_t piece_ns = next.end_ns - next.start_ns;
  for (int64_t from_ns = sampled_to_ns_; from_ns < next.start_ns; from_ns += piece_ns) {
    walker_.MoveTo({from_ns, std::min(from_ns + piece_ns, next.start_ns)}, launches, cursor,
                   &plan_);
    Retire();
    Impute();
  }
}

// Adds what the launches are expected to have done while no sample was taken, so that a launch
// which lost a sample still counts: leaving such launches out would favour short ones.
void FitModel::Impute() {
  for (size_t group = 0; group < groups_.size(); ++group) {
    const Coverage& coverage = walker_.coverage(group);
    for (const Coverage::Piece& piece : coverage.pieces) {
      ActiveLaunch& active = walker_.active()[piece.active];
      active.imputed_ns[group] += piece.overlap_ns;
      for (size_t index = 0; index < groups_[group].counters.size(); ++index) {
        active.imputed[groups_[group].counters[index]] +=
            Expected(fits_[group], index, coverage, piece);
      }
    }
  }
}

void FitModel::SplitAmongActive(const Sample& sample, size_t group,
                                std::span<const double> values) {
  const Coverage& coverage = walker_.coverage(group);
  for (const Coverage::Piece& piece : coverage.pieces) {
    walker_.active()[piece.active].covered_ns[group] += piece.overlap_ns;
  }
  for (size_t index = 0; index < groups_[group].counters.size(); ++index) {
    const size_t counter = groups_[group].counters[index];
    const double counted = values[counter];
    Split(fits_[group], index, coverage, counted, &split_);
    CounterTotals& totals = totals_[counter];
    totals.counted += counted;
    totals.idle += split_.idle;
    totals.unattributed += split_.unattributed;
    const GreatestRates greatest = FindGreatestRates(coverage, split_.parts);
    for (size_t i = 0; i < coverage.pieces.size(); ++i) {
      const Coverage::Piece& piece = coverage.pieces[i];
      const double part = split_.parts[i];
      totals.attributed += part;
      walker_.active()[piece.active].attributed[counter] += part;
      walker_.active()[piece.active].expected[counter] += split_.predicted[i];
      statistics_[piece.column * counters_ + counter].AddPart(
          part, std::sqrt(std::max(0.0, part * (counted - part))),
          greatest.Beside(i, piece.overlap_ns, sample), split_.residual * split_.residual,
          piece.overlap_ns);
    }
  }
}

void FitModel::Retire() {
  for (const ActiveLaunch& done : walker_.retired()) {
    const auto duration = static_cast<double>(done.launch.end_ns - done.launch.start_ns);
    for (size_t group = 0; group < groups_.size(); ++group) {
      const double share = std::min(1.0, done.covered_ns[group] / duration);
      const double imputed_share = done.imputed_ns[group] / duration;
      for (const size_t counter : groups_[group].counters) {
        ColumnStatistics& statistics = statistics_[done.column * counters_ + counter];
        statistics.AddCovered(share);
        if (share + imputed_share < kWholeShare) continue;
        statistics.AddWhole(done.attributed[counter], done.expected[counter], done.imputed[counter],
                            duration);
        if (share < kSampledShare) continue;
        statistics.AddLaunch(done.attributed[counter] + done.imputed[counter], duration,
                             clusters_.numbers());
      }
    }
  }
}

}  // namespace utlz::attribution
