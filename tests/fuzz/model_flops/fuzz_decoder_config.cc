// A model's config.json of any content: what is taken for a model has numbers that can be counted
// with.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tools/model_flops/decoder_config.h"
#include "tools/model_flops/decoder_flops.h"

namespace {

void Check(double count) {
  if (!std::isfinite(count) || count < 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace utlz;
  const auto config = ParseDecoderConfig(std::string(reinterpret_cast<const char*>(data), size));
  if (!config.ok()) return 0;
  Check(CountParameters(*config));
  Check(CountActiveParameters(*config));
  Check(CountMatrixFlopsPerToken(*config));
  for (const ModelPass pass : {ModelPass::kTraining, ModelPass::kPrefill, ModelPass::kDecode}) {
    ModelStep step;
    step.batch_size = 8;
    step.sequence_length = 4096;
    step.pass = pass;
    Check(CountAttentionFlops(*config, step));
    static_cast<void>(CountWorkloadSpec(*config, step));
  }
  return 0;
}
