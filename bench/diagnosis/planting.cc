#include "bench/diagnosis/planting.h"

#include "bench/diagnosis/draft_timeline.h"

namespace utlz {

double LostNs(double share, double healthy_ns) { return healthy_ns * share / (1 - share); }

Item Copy(CopyKind kind, double time_ns, double bytes, bool pageable) {
  return {.kind = Item::Kind::kCopy,
          .time_ns = time_ns,
          .copy = kind,
          .pageable = pageable,
          .bytes = static_cast<uint64_t>(bytes)};
}

void EachStep(double share, Draft* draft, const std::function<void(double, Step*)>& change) {
  if (share <= 0) return;
  for (std::vector<Step>& steps : draft->ranks) {
    for (Step& step : steps) change(LostNs(share, StepNs(*draft, step)), &step);
  }
}

void InsertEvenly(const Step& items, size_t places, Step* step) {
  const size_t length = step->size();
  for (size_t i = places; i > 0; --i) {
    const auto at = static_cast<std::ptrdiff_t>(i * length / (places + 1));
    step->insert(step->begin() + at, items.begin(), items.end());
  }
}

void Stretch(double factor, Step* step) {
  for (Item& item : *step) {
    if (item.kind == Item::Kind::kKernel) item.time_ns *= factor;
  }
}

}  // namespace utlz
