#include "collector/attribution/column_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "collector/attribution/duration_clusters.h"
#include "collector/attribution/variant_table.h"

namespace utlz::attribution {
namespace {

// A GPU takes about half a microsecond to start or drain a kernel's blocks: finer knots show
// nothing. From fine to coarse.
constexpr std::array<ShapeResolution, 5> kResolutions = {
    {{500, 0.25}, {500, 0.5}, {500, 1}, {1000, 1}, {1000, 3}}};
// Samples that each coefficient must have to be worth its own error.
constexpr double kSamplesPerCoefficient = 6;
// Room left for variants that show up after the plan was made.
constexpr double kNewcomerShare = 0.2;
// Their shapes, of which nothing is known yet.
constexpr double kNewcomerCoefficients = 3;
// A kernel that is only tried out runs for less time; a recording much longer than this shows it.
constexpr int64_t kStretchNs = 500'000'000;
constexpr int64_t kRecordingsOfAStretch = 4;

struct Candidate {
  WorkColumn column;
  double time_ns = 0;
  double worth_ns = 0;  // of it, of launches that a sample saw; 0 where it will not come back
  double launches = 0;
  double typical_duration_ns = 0;
};

double MeanSampleNs(const Recording& recording) {
  double sum = 0;
  for (const Sample& sample : recording.samples) {
    sum += static_cast<double>(sample.end_ns - sample.start_ns);
  }
  return recording.samples.empty() ? 1000.0 : sum / static_cast<double>(recording.samples.size());
}

// Variants whose launches all lie in a short stretch of a long recording: what a program tried out.
// They would take the room of those that it then runs over and over.
std::vector<bool> TriedOut(const Recording& recording, size_t variants) {
  std::vector<bool> tried(variants);
  if (recording.launches.empty()) return tried;
  const int64_t long_ns = recording.launches.back().start_ns - recording.launches.front().start_ns;
  if (long_ns < kRecordingsOfAStretch * kStretchNs) return tried;
  std::vector<int64_t> first_ns(variants, -1);
  std::vector<int64_t> last_ns(variants);
  for (const Launch& launch : recording.launches) {
    if (first_ns[launch.variant] < 0) first_ns[launch.variant] = launch.start_ns;
    last_ns[launch.variant] = launch.start_ns;
  }
  // What began a moment ago may go on.
  const int64_t lately_ns = recording.launches.back().start_ns - kStretchNs;
  for (size_t variant = 0; variant < variants; ++variant) {
    tried[variant] =
        last_ns[variant] < lately_ns && last_ns[variant] - first_ns[variant] < kStretchNs;
  }
  return tried;
}

// The share of each variant's launches that some sample saw.
std::vector<double> SeenShares(const Recording& recording, size_t variants) {
  std::vector<double> seen(variants);
  std::vector<double> all(variants);
  auto sample = recording.samples.begin();
  for (const Launch& launch : recording.launches) {
    while (sample != recording.samples.end() && sample->end_ns <= launch.start_ns) ++sample;
    all[launch.variant] += 1;
    if (sample == recording.samples.end() || sample->start_ns >= launch.end_ns) continue;
    seen[launch.variant] += 1;
  }
  for (size_t variant = 0; variant < variants; ++variant) {
    if (all[variant] > 0) seen[variant] /= all[variant];
  }
  return seen;
}

double Median(std::vector<int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

std::vector<Candidate> Candidates(uint32_t variant, const std::vector<int64_t>& durations,
                                  const std::vector<int64_t>& separators) {
  std::vector<std::vector<int64_t>> parts(separators.size() + 1);
  for (const int64_t duration : durations) {
    const auto part = std::upper_bound(separators.begin(), separators.end(), duration);
    parts[static_cast<size_t>(part - separators.begin())].push_back(duration);
  }
  std::vector<Candidate> candidates;
  for (size_t part = 0; part < parts.size(); ++part) {
    Candidate candidate;
    candidate.column.variant = variant;
    candidate.column.part = static_cast<uint32_t>(part);
    candidate.column.parts = static_cast<uint32_t>(parts.size());
    candidate.column.min_duration_ns = part == 0 ? 0 : separators[part - 1];
    candidate.column.max_duration_ns =
        part == separators.size() ? std::numeric_limits<int64_t>::max() : separators[part];
    for (const int64_t duration : parts[part]) candidate.time_ns += static_cast<double>(duration);
    candidate.launches = static_cast<double>(parts[part].size());
    candidate.typical_duration_ns = Median(parts[part]);
    candidates.push_back(candidate);
  }
  return candidates;
}

ProfileShape ShapeOf(const Candidate& candidate, const ShapeResolution& resolution,
                     double sample_ns, double most_coefficients = ProfileShape::kMaxCoefficients) {
  const double samples = candidate.time_ns / sample_ns + candidate.launches;
  return ProfileShape::ForDuration(candidate.typical_duration_ns, resolution,
                                   std::min(samples / kSamplesPerCoefficient, most_coefficients));
}

// The finest at which every candidate of worth has its columns, or the coarsest.
ShapeResolution FinestResolution(const std::vector<Candidate>& candidates, double sample_ns,
                                 double room) {
  for (const ShapeResolution& resolution : kResolutions) {
    double needed = 0;
    for (const Candidate& candidate : candidates) {
      if (candidate.worth_ns <= 0) continue;
      needed += static_cast<double>(ShapeOf(candidate, resolution, sample_ns).coefficients());
    }
    if (needed <= room) return resolution;
  }
  return kResolutions.back();
}

}  // namespace

ColumnPlan::ColumnPlan(const Recording& recording, size_t variants, size_t max_coefficients)
    : max_coefficients_(std::max<size_t>(max_coefficients, 8)), variants_(variants) {
  WorkColumn other;
  other.max_duration_ns = std::numeric_limits<int64_t>::max();
  AddColumn(other);
  if (variants_.empty()) variants_.resize(1);
  variants_[VariantTable::kOtherVariantsIndex].columns.push_back(kOtherColumn);

  std::vector<std::vector<int64_t>> durations(variants);
  for (const Launch& launch : recording.launches) {
    durations[launch.variant].push_back(launch.end_ns - launch.start_ns);
  }
  const std::vector<double> seen_shares = SeenShares(recording, variants);
  const std::vector<bool> tried_out = TriedOut(recording, variants);
  std::vector<Candidate> candidates;
  for (uint32_t variant = 0; variant < variants; ++variant) {
    if (durations[variant].empty() || variant == VariantTable::kOtherVariantsIndex) continue;
    variants_[variant].separators = SeparateDurations(durations[variant]);
    for (Candidate& candidate :
         Candidates(variant, durations[variant], variants_[variant].separators)) {
      candidate.worth_ns = tried_out[variant] ? 0 : seen_shares[variant] * candidate.time_ns;
      candidates.push_back(std::move(candidate));
    }
  }
  const double sample_ns = MeanSampleNs(recording);
  const double enough_data = static_cast<double>(recording.samples.size()) / kSamplesPerCoefficient;
  const double room = (1 - kNewcomerShare) * static_cast<double>(max_coefficients_);
  const ShapeResolution resolution =
      FinestResolution(candidates, sample_ns, std::min(room, enough_data));
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.worth_ns != b.worth_ns ? a.worth_ns > b.worth_ns : a.time_ns > b.time_ns;
  });
  // Those of no worth keep nothing from the others.
  auto after = static_cast<double>(
      std::count_if(candidates.begin(), candidates.end(),
                    [](const Candidate& candidate) { return candidate.worth_ns > 0; }));
  for (Candidate& candidate : candidates) {
    // A constant rate for each of those that follow is worth more than a finer shape of this one.
    after = std::max(0.0, after - 1);
    const double most = room - static_cast<double>(coefficients_) - after;
    candidate.column.shape = ShapeOf(candidate, resolution, sample_ns, most);
    const uint32_t variant = candidate.column.variant;
    std::vector<uint32_t>& columns = variants_[variant].columns;
    columns.resize(candidate.column.parts, kOtherColumn);
    if (static_cast<double>(coefficients_ + candidate.column.shape.coefficients()) <= room) {
      columns[candidate.column.part] = AddColumn(candidate.column);
    }
  }
}

uint32_t ColumnPlan::AddColumn(WorkColumn column) {
  column.first_coefficient = static_cast<uint32_t>(coefficients_);
  coefficients_ += column.shape.coefficients();
  columns_.push_back(column);
  return static_cast<uint32_t>(columns_.size() - 1);
}

uint32_t ColumnPlan::ColumnOf(const Launch& launch) {
  if (launch.variant >= variants_.size()) variants_.resize(launch.variant + 1);
  VariantColumns& planned = variants_[launch.variant];
  const int64_t duration = launch.end_ns - launch.start_ns;
  if (planned.columns.empty()) {
    WorkColumn column;
    column.variant = launch.variant;
    column.max_duration_ns = std::numeric_limits<int64_t>::max();
    column.shape = ProfileShape::ForDuration(static_cast<double>(duration), kResolutions.back(),
                                             kNewcomerCoefficients);
    const bool fits = coefficients_ + column.shape.coefficients() <= max_coefficients_;
    planned.columns.push_back(fits ? AddColumn(column) : kOtherColumn);
  }
  const auto part =
      std::upper_bound(planned.separators.begin(), planned.separators.end(), duration);
  return planned.columns[static_cast<size_t>(part - planned.separators.begin())];
}

}  // namespace utlz::attribution
