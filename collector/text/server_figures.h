// What a server's own page said of its work: the figures of vLLM, SGLang, TGI or Triton.
#ifndef UTLZ_COLLECTOR_TEXT_SERVER_FIGURES_H_
#define UTLZ_COLLECTOR_TEXT_SERVER_FIGURES_H_

#include <string>
#include <vector>

#include "proto/summary.pb.h"

namespace utlz {

// "vllm, by its own page over 60.0 s"; the engine's name is the target's, not escaped.
std::string ServerTitle(const ApplicationSummary& server);

// Those that are known: "12.0 requests/s", "2.00 J a token" and so on.
std::vector<std::string> ServerFigures(const ApplicationSummary& server);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_SERVER_FIGURES_H_
