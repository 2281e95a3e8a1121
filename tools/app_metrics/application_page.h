// Reads the Prometheus page of a server: vLLM, SGLang, Text Generation Inference (TGI) or Triton.
// Series of one metric, of several models say, are added up. Pure, thread-safe.
#ifndef UTLZ_TOOLS_APP_METRICS_APPLICATION_PAGE_H_
#define UTLZ_TOOLS_APP_METRICS_APPLICATION_PAGE_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "proto/profile.pb.h"

namespace utlz {

// No page of a server is longer.
inline constexpr size_t kMaxApplicationPageBytes = 4 << 20;

// Nothing where the page has no metric of a server that is known. Lines that are no samples are
// skipped. The time of the reading is left out.
std::optional<ApplicationReading> ReadApplicationPage(std::string_view page);

}  // namespace utlz

#endif  // UTLZ_TOOLS_APP_METRICS_APPLICATION_PAGE_H_
