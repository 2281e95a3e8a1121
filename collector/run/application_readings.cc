#include "collector/run/application_readings.h"

#include <algorithm>
#include <cmath>

namespace utlz {
namespace {

bool IsCount(double value) { return std::isfinite(value) && value >= 0; }

// Bounds ascend, and counts with them.
bool IsHistogram(const ApplicationReading& reading) {
  const auto& bounds = reading.first_token_seconds();
  const auto& counts = reading.first_token_requests();
  if (bounds.size() != counts.size() || bounds.size() > ApplicationReadings::kMostBuckets) {
    return false;
  }
  for (int i = 0; i < bounds.size(); ++i) {
    if (std::isnan(bounds[i]) || !IsCount(counts[i])) return false;
    if (i > 0 && (bounds[i] <= bounds[i - 1] || counts[i] < counts[i - 1])) return false;
  }
  return true;
}

bool IsPossible(const ApplicationReading& reading) {
  const auto possible = [](bool has, double value) { return !has || IsCount(value); };
  return possible(reading.has_requests(), reading.requests()) &&
         possible(reading.has_prompt_tokens(), reading.prompt_tokens()) &&
         possible(reading.has_generated_tokens(), reading.generated_tokens()) &&
         possible(reading.has_waiting(), reading.waiting()) &&
         possible(reading.has_running(), reading.running()) &&
         possible(reading.has_estimated_flops(), reading.estimated_flops()) && IsHistogram(reading);
}

// What a total has grown by; one that shrank began anew.
double Growth(double before, double now) { return now >= before ? now - before : now; }

bool SameBounds(const ApplicationReading& a, const ApplicationReading& b) {
  return std::equal(a.first_token_seconds().begin(), a.first_token_seconds().end(),
                    b.first_token_seconds().begin(), b.first_token_seconds().end());
}

// The totals of `now` on top of those of `last`, where both have them.
ApplicationReading GoOn(const ApplicationReading& last, const ApplicationReading& before,
                        const ApplicationReading& now) {
  ApplicationReading sum = now;
  if (now.has_requests()) {
    sum.set_requests(last.requests() + Growth(before.requests(), now.requests()));
  }
  if (now.has_prompt_tokens()) {
    sum.set_prompt_tokens(last.prompt_tokens() +
                          Growth(before.prompt_tokens(), now.prompt_tokens()));
  }
  if (now.has_generated_tokens()) {
    sum.set_generated_tokens(last.generated_tokens() +
                             Growth(before.generated_tokens(), now.generated_tokens()));
  }
  if (now.has_estimated_flops()) {
    sum.set_estimated_flops(last.estimated_flops() +
                            Growth(before.estimated_flops(), now.estimated_flops()));
  }
  if (!SameBounds(before, now)) return sum;
  const int buckets = now.first_token_requests_size();
  const bool anew = buckets > 0 && now.first_token_requests(buckets - 1) <
                                       before.first_token_requests(buckets - 1);
  for (int i = 0; i < buckets; ++i) {
    const double had =
        anew ? 0 : std::min(before.first_token_requests(i), now.first_token_requests(i));
    sum.set_first_token_requests(i,
                                 last.first_token_requests(i) + now.first_token_requests(i) - had);
  }
  return sum;
}

}  // namespace

bool ApplicationReadings::Add(const ApplicationReading& reading) {
  if (!IsPossible(reading) || (count_ > 0 && reading.time_ns() <= last_.time_ns())) return false;
  if (count_ == 0 || reading.engine() != raw_.engine()) {
    first_ = last_ = reading;
    count_ = 0;
  } else {
    last_ = GoOn(last_, raw_, reading);
    if (!SameBounds(first_, last_)) {
      *first_.mutable_first_token_seconds() = last_.first_token_seconds();
      *first_.mutable_first_token_requests() = last_.first_token_requests();
    }
  }
  raw_ = reading;
  ++count_;
  if (reading.has_waiting()) {
    waiting_sum_ += reading.waiting();
    ++waiting_count_;
    waiting_maximum_ = std::max(waiting_maximum_.value_or(0), reading.waiting());
  }
  return true;
}

std::optional<double> ApplicationReadings::waiting_mean() const {
  if (waiting_count_ == 0) return std::nullopt;
  return waiting_sum_ / static_cast<double>(waiting_count_);
}

std::optional<double> FirstTokenSeconds(const ApplicationReading& from,
                                        const ApplicationReading& to, double share) {
  const int buckets = to.first_token_requests_size();
  if (buckets == 0 || !SameBounds(from, to)) return std::nullopt;
  const auto within = [&](int i) {
    return to.first_token_requests(i) - from.first_token_requests(i);
  };
  const double rank = share * within(buckets - 1);
  if (rank <= 0) return std::nullopt;
  double below = 0;
  for (int i = 0; i < buckets; ++i) {
    if (within(i) < rank) {
      below = within(i);
      continue;
    }
    const double upper = to.first_token_seconds(i);
    const double lower = i > 0 ? to.first_token_seconds(i - 1) : 0;
    if (std::isinf(upper)) return std::nullopt;
    const double inside = within(i) - below;
    return inside > 0 ? lower + (upper - lower) * (rank - below) / inside : upper;
  }
  return std::nullopt;
}

}  // namespace utlz
