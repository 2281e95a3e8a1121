// Takes the sampler's frames into the devices that they speak of. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_SAMPLER_INTAKE_H_
#define UTLZ_COLLECTOR_RUN_SAMPLER_INTAKE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/decode/sample_decoder.h"
#include "collector/run/device_table.h"

namespace utlz {

class SamplerIntake {
 public:
  // False where the frame is refused. Types that are not the sampler's are skipped.
  bool Consume(uint16_t type, std::string_view payload, DeviceTable* devices);

 private:
  bool ConsumeMetricSet(std::string_view payload, DeviceTable* devices);
  bool ConsumeSamples(std::string_view payload, DeviceTable* devices);
  bool ConsumeTotals(std::string_view payload, DeviceTable* devices);
  bool ConsumeStatus(std::string_view payload, DeviceTable* devices);
  bool ConsumeSetting(std::string_view payload, DeviceTable* devices);
  bool ConsumePeaks(std::string_view payload, DeviceTable* devices);

  DecodedSamples samples_;
  std::vector<double> row_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_SAMPLER_INTAKE_H_
