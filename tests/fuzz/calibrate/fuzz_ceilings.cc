// A file of ceilings of any content: what is taken for ceilings can be sent in a frame and kept
// again.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tools/calibrate/ceilings_store.h"

namespace {

void CheckRate(double rate) {
  if (!std::isfinite(rate) || rate < 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace utlz;
  const auto ceilings = CeilingsFromJson(std::string(reinterpret_cast<const char*>(data), size));
  if (!ceilings.ok()) return 0;
  CheckRate(ceilings->copy_bytes_per_second());
  CheckRate(ceilings->triad_bytes_per_second());
  for (const DeviceCeilings::Rate& rate : ceilings->rate()) CheckRate(rate.flops_per_second());
  DeviceCeilings sent;
  if (!sent.ParseFromString(ceilings->SerializeAsString())) std::abort();
  const auto kept = CeilingsFromJson(CeilingsToJson(*ceilings));
  if (!kept.ok() || kept->rate_size() != ceilings->rate_size()) std::abort();
  return 0;
}
