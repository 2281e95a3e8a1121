// Feeds the engine with anything: it must not crash, and must conserve what it counted.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "collector/attribution/engine.h"

namespace {

using utlz::attribution::ColumnEstimate;
using utlz::attribution::CounterEstimate;
using utlz::attribution::CounterTotals;
using utlz::attribution::Engine;
using utlz::attribution::IntervalKind;
using utlz::attribution::Options;
using utlz::attribution::Solution;

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool empty() const { return at_ >= size_; }

  template <typename Value>
  Value Next() {
    Value value{};
    const size_t left = size_ - at_;
    const size_t count = left < sizeof(value) ? left : sizeof(value);
    std::memcpy(&value, data_ + at_, count);
    at_ += count;
    return value;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

// Mostly near the last time, sometimes anywhere.
int64_t NextTime(Bytes* bytes, int64_t last_ns) {
  const auto choice = bytes->Next<uint8_t>();
  if (choice < 8) return bytes->Next<int64_t>();
  const int64_t base_ns = last_ns > 0 && last_ns < (int64_t{1} << 60) ? last_ns : 1'000'000;
  return base_ns + bytes->Next<int16_t>() * (choice < 16 ? 100 : 1);
}

double NextValue(Bytes* bytes) {
  return bytes->Next<uint8_t>() < 16 ? bytes->Next<double>() : bytes->Next<uint16_t>();
}

void Check(const Solution& solution) {
  for (const ColumnEstimate& column : solution.columns) {
    for (const CounterEstimate& estimate : column.counters) {
      if (!std::isfinite(estimate.attributed) || estimate.attributed < 0) std::abort();
      if (estimate.per_launch && !std::isfinite(*estimate.per_launch)) std::abort();
      if (estimate.standard_error && !std::isfinite(*estimate.standard_error)) std::abort();
    }
  }
  for (const CounterTotals& totals : solution.totals) {
    const double sum = totals.attributed + totals.idle + totals.unattributed;
    if (!(std::abs(sum - totals.counted) <= 1e-9 * totals.counted + 1e-9)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Options options;
  options.counters = {{"a", "x", 1e9}, {"b", "y"}};
  options.max_columns = 24;
  options.max_variants = 16;
  options.max_pending_samples = 200;
  options.max_pending_intervals = 200;
  Bytes bytes(data, size);
  options.warmup_samples = bytes.Next<uint8_t>();
  Engine engine(options);
  int64_t now_ns = 1'000'000;
  while (!bytes.empty()) {
    switch (bytes.Next<uint8_t>() % 8) {
      case 0:
        engine.AdvanceTo(NextTime(&bytes, now_ns));
        break;
      case 1:
      case 2:
      case 3: {
        const int64_t start_ns = NextTime(&bytes, now_ns);
        engine.AddInterval(bytes.Next<uint8_t>(), static_cast<IntervalKind>(start_ns & 3), start_ns,
                           NextTime(&bytes, start_ns));
        break;
      }
      default: {
        const int64_t start_ns = now_ns;
        now_ns = NextTime(&bytes, now_ns);
        const std::array<double, 2> values = {NextValue(&bytes), NextValue(&bytes)};
        engine.AddSample(start_ns, now_ns, values);
        break;
      }
    }
  }
  Check(engine.Solve());
  engine.AdvanceTo(INT64_MAX);
  Check(engine.Solve());
  return 0;
}
