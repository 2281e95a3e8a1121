// What a server in the job did in the last seconds, beside what the GPUs took for it.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_APPLICATION_HISTORY_H_
#define UTLZ_COLLECTOR_METRICS_APPLICATION_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "proto/profile.pb.h"

namespace utlz {

struct ApplicationRates {
  std::optional<double> requests_per_second;
  std::optional<double> tokens_per_second;  // generated
  std::optional<double> tokens_per_joule;   // tokens per second and watt
  std::optional<double> joules_per_token;
  std::optional<double> first_token_p99_seconds;
};

// What all GPUs have used so far, and when that was read: sooner than the server's page, and less
// often.
struct EnergyReading {
  double joules = 0;
  double time_ns = 0;
};

class ApplicationHistory {
 public:
  // Rates are over this time or slightly more.
  static constexpr uint64_t kLengthNs = 30'000'000'000;
  static constexpr size_t kMostPoints = 256;

  // Takes a reading, whose totals grow, and the energy if it is known. A second call with the same
  // reading has no effect.
  void Update(const ApplicationReading& reading, std::optional<EnergyReading> energy);
  ApplicationRates Rates() const;

 private:
  struct Point {
    ApplicationReading reading;
    std::optional<EnergyReading> energy;
  };

  std::optional<double> JoulesPerToken() const;

  std::deque<Point> points_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_APPLICATION_HISTORY_H_
