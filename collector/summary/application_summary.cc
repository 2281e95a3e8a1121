#include "collector/summary/application_summary.h"

#include <optional>

namespace utlz {
namespace {

constexpr double kHighShare = 0.99;

// The energy of all GPUs of the run between two moments; nothing if one of them reports none.
std::optional<double> JoulesBetween(const RunState& state, uint64_t start_ns, uint64_t end_ns) {
  std::optional<double> watts;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    const auto of_device = state.devices[i].totals.PowerBetween(start_ns, end_ns);
    if (!of_device.has_value()) return std::nullopt;
    watts = watts.value_or(0) + *of_device;
  }
  if (!watts.has_value()) return std::nullopt;
  return *watts * static_cast<double>(end_ns - start_ns) * 1e-9;
}

}  // namespace

void SummarizeApplication(const RunState& state, Summary* summary) {
  if (state.application.count() < 2) return;
  const ApplicationReading& first = state.application.first();
  const ApplicationReading& last = state.application.last();
  const double seconds = static_cast<double>(last.time_ns() - first.time_ns()) * 1e-9;
  ApplicationSummary* server = summary->mutable_application();
  server->set_engine(last.engine());
  server->set_time_ns(seconds * 1e9);
  server->set_readings(state.application.count());
  if (last.has_requests()) {
    server->set_requests_per_second((last.requests() - first.requests()) / seconds);
  }
  if (last.has_prompt_tokens()) {
    server->set_prompt_tokens_per_second((last.prompt_tokens() - first.prompt_tokens()) / seconds);
  }
  if (last.has_estimated_flops()) {
    server->set_estimated_flops_per_second((last.estimated_flops() - first.estimated_flops()) /
                                           seconds);
  }
  if (last.has_generated_tokens()) {
    const double tokens = last.generated_tokens() - first.generated_tokens();
    server->set_tokens_per_second(tokens / seconds);
    if (state.work.price_per_hour() > 0 && tokens > 0) {
      server->set_cost_per_token(state.work.price_per_hour() / 3600 * seconds / tokens);
    }
    const auto joules = JoulesBetween(state, first.time_ns(), last.time_ns());
    if (joules.has_value() && *joules > 0 && tokens > 0) {
      server->set_joules_per_token(*joules / tokens);
      server->set_tokens_per_joule(tokens / *joules);
    }
  }
  if (const auto mean = state.application.waiting_mean()) server->set_waiting_mean(*mean);
  if (const auto most = state.application.waiting_maximum()) server->set_waiting_maximum(*most);
  if (const auto high = FirstTokenSeconds(first, last, kHighShare)) {
    server->set_first_token_p99_ns(*high * 1e9);
  }
}

}  // namespace utlz
