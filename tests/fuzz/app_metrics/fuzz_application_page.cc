// What a server may write on its page: a reading of it is possible, or there is none.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "collector/run/application_readings.h"
#include "tools/app_metrics/application_page.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view page(reinterpret_cast<const char*>(bytes), size);
  auto reading = utlz::ReadApplicationPage(page);
  if (!reading.has_value()) return 0;
  if (reading->first_token_seconds_size() > utlz::ApplicationReadings::kMostBuckets) std::abort();
  utlz::ApplicationReadings readings;
  reading->set_time_ns(1);
  readings.Add(*reading);
  reading->set_time_ns(2);
  readings.Add(*reading);
  if (readings.count() == 2) utlz::FirstTokenSeconds(readings.first(), readings.last(), 0.99);
  return 0;
}
