#include "collector/timeline/process_overlap.h"

#include <algorithm>

namespace utlz {

void ProcessOverlap::Run(const Activity& kernel) {
  const Running running{kernel.source, kernel.end_ns};
  if (kernel.source == last_.source) {
    last_.end_ns = std::max(last_.end_ns, kernel.end_ns);
  } else if (kernel.end_ns > last_.end_ns) {
    last_of_others_ = last_;
    last_ = running;
  } else if (kernel.end_ns > last_of_others_.end_ns) {
    last_of_others_ = running;
  }
}

std::optional<ProcessOverlap::Span> ProcessOverlap::Add(const Activity& kernel) {
  if (kernel.start_ns < latest_start_ns_) return std::nullopt;
  latest_start_ns_ = kernel.start_ns;
  const Running other = kernel.source == last_.source ? last_of_others_ : last_;
  Run(kernel);
  if (other.end_ns <= kernel.start_ns) return std::nullopt;
  sources_.insert(other.source);
  sources_.insert(kernel.source);
  const Span span{std::max(kernel.start_ns, counted_until_ns_),
                  std::min(kernel.end_ns, other.end_ns)};
  if (span.end_ns <= span.start_ns) return std::nullopt;
  counted_until_ns_ = span.end_ns;
  time_ns_ += span.end_ns - span.start_ns;
  return span;
}

}  // namespace utlz
