#include "collector/metrics/application_history.h"

#include "collector/run/application_readings.h"

namespace utlz {
namespace {

constexpr double kHighShare = 0.99;

}  // namespace

void ApplicationHistory::Update(const ApplicationReading& reading, std::optional<double> joules) {
  if (!points_.empty()) {
    const ApplicationReading& last = points_.back().reading;
    if (reading.time_ns() == last.time_ns()) return;
    if (reading.time_ns() < last.time_ns() || reading.engine() != last.engine()) points_.clear();
  }
  points_.push_back({reading, joules});
  while (points_.size() > 2 && (points_.size() > kMostPoints ||
                                points_[1].reading.time_ns() + kLengthNs <= reading.time_ns())) {
    points_.pop_front();
  }
}

ApplicationRates ApplicationHistory::Rates() const {
  ApplicationRates rates;
  if (points_.size() < 2) return rates;
  const ApplicationReading& from = points_.front().reading;
  const ApplicationReading& to = points_.back().reading;
  const double seconds = static_cast<double>(to.time_ns() - from.time_ns()) * 1e-9;
  if (to.has_requests() && from.has_requests()) {
    rates.requests_per_second = (to.requests() - from.requests()) / seconds;
  }
  rates.first_token_p99_seconds = FirstTokenSeconds(from, to, kHighShare);
  if (!to.has_generated_tokens() || !from.has_generated_tokens()) return rates;
  const double tokens = to.generated_tokens() - from.generated_tokens();
  rates.tokens_per_second = tokens / seconds;
  if (!points_.front().joules.has_value() || !points_.back().joules.has_value()) return rates;
  const double joules = *points_.back().joules - *points_.front().joules;
  if (joules <= 0) return rates;
  rates.tokens_per_joule = tokens / joules;
  if (tokens > 0) rates.joules_per_token = joules / tokens;
  return rates;
}

}  // namespace utlz
