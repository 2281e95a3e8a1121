#include "collector/metrics/application_history.h"

#include <algorithm>

#include "collector/run/application_readings.h"

namespace utlz {
namespace {

constexpr double kHighShare = 0.99;

}  // namespace

void ApplicationHistory::Update(const ApplicationReading& reading,
                                std::optional<EnergyReading> energy) {
  if (!points_.empty()) {
    const ApplicationReading& last = points_.back().reading;
    if (reading.time_ns() == last.time_ns()) return;
    if (reading.time_ns() < last.time_ns() || reading.engine() != last.engine()) points_.clear();
  }
  points_.push_back({reading, energy});
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
  rates.joules_per_token = JoulesPerToken();
  if (rates.joules_per_token.has_value()) rates.tokens_per_joule = 1 / *rates.joules_per_token;
  return rates;
}

// Power over tokens a second, each by its own times.
std::optional<double> ApplicationHistory::JoulesPerToken() const {
  const auto first = std::find_if(points_.begin(), points_.end(),
                                  [](const Point& point) { return point.energy.has_value(); });
  if (first == points_.end() || !points_.back().energy.has_value()) return std::nullopt;
  const Point& last = points_.back();
  const double joules = last.energy->joules - first->energy->joules;
  const double energy_ns = last.energy->time_ns - first->energy->time_ns;
  const double tokens = last.reading.generated_tokens() - first->reading.generated_tokens();
  const auto tokens_ns = static_cast<double>(last.reading.time_ns() - first->reading.time_ns());
  if (joules <= 0 || energy_ns <= 0 || tokens <= 0) return std::nullopt;
  return (joules / energy_ns) / (tokens / tokens_ns);
}

}  // namespace utlz
