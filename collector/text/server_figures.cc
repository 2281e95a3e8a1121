#include "collector/text/server_figures.h"

#include "collector/text/number_text.h"
#include "collector/text/price_text.h"

namespace utlz {

std::string ServerTitle(const ApplicationSummary& server) {
  return server.engine() + ", by its own page over " + TimeText(server.time_ns());
}

std::vector<std::string> ServerFigures(const ApplicationSummary& server) {
  std::vector<std::string> figures;
  const auto add = [&figures](bool known, const std::string& words) {
    if (known) figures.push_back(words);
  };
  add(server.has_requests_per_second(), RatioText(server.requests_per_second()) + " requests/s");
  add(server.has_tokens_per_second(), RatioText(server.tokens_per_second()) + " tokens/s");
  add(server.has_joules_per_token(), RatioText(server.joules_per_token()) + " J a token");
  add(server.has_cost_per_token(),
      PriceText(server.cost_per_token() * 1e6) + " per million tokens");
  add(server.has_first_token_p99_ns(),
      "first token within " + TimeText(server.first_token_p99_ns()) + " for 99 %");
  add(server.has_waiting_mean(), "queue " + RatioText(server.waiting_mean()) + ", at most " +
                                     CountText(server.waiting_maximum()));
  add(server.has_estimated_flops_per_second(),
      PrefixedText(server.estimated_flops_per_second(), "FLOP/s") + " a GPU by its formula");
  return figures;
}

}  // namespace utlz
