#include "tools/model_flops/workload_spec_request.h"

#include "proto/valid_text.h"
#include "tools/model_flops/decoder_config.h"

namespace utlz {
namespace {

absl::Status Missing(const char* text) { return absl::InvalidArgumentError(text); }

// Batch and sequence say how many tokens a step computes, whatever counts the FLOPs.
double TokensComputed(const WorkloadSpecRequest& request) {
  return request.pass == ModelPass::kDecode ? request.batch_size
                                            : request.batch_size * request.sequence_length;
}

absl::StatusOr<WorkloadSpec> FromConfig(const WorkloadSpecRequest& request) {
  if (request.batch_size <= 0 || request.sequence_length <= 0) {
    return Missing(
        "--model-config needs --batch-size and --sequence-length: FLOPs of a step "
        "depend on both");
  }
  if (request.tokens_per_step > TokensComputed(request)) {
    return Missing(
        "--tokens-per-step is more than --batch-size times --sequence-length; leave it "
        "out, or count the tokens without padding");
  }
  const absl::StatusOr<DecoderConfig> config = ReadDecoderConfig(request.config);
  if (!config.ok()) return config.status();
  return CountWorkloadSpec(*config, {.batch_size = request.batch_size,
                                     .sequence_length = request.sequence_length,
                                     .tokens = request.tokens_per_step,
                                     .pass = request.pass,
                                     .attention = request.attention});
}

}  // namespace

absl::StatusOr<WorkloadSpec> MakeWorkloadSpec(const WorkloadSpecRequest& request) {
  const int ways = (request.flops_per_step > 0 ? 1 : 0) + (request.flops_per_token > 0 ? 1 : 0) +
                   (request.config.empty() ? 0 : 1);
  if (ways > 1) {
    return Missing(
        "give the model's FLOPs once: --model-flops-per-step, --model-flops-per-token "
        "or --model-config");
  }
  WorkloadSpec work;
  if (!request.config.empty()) {
    absl::StatusOr<WorkloadSpec> counted = FromConfig(request);
    if (!counted.ok()) return counted.status();
    work = *std::move(counted);
  } else {
    const double computed = TokensComputed(request);
    work.set_tokens_per_step(request.tokens_per_step > 0 ? request.tokens_per_step : computed);
    work.set_padded_tokens_per_step(computed);
    work.set_flops_per_step(request.flops_per_step);
    work.set_flops_per_token(request.flops_per_token);
    if (request.flops_per_step > 0) work.set_note("as given by step");
    if (request.flops_per_token > 0) {
      if (work.tokens_per_step() <= 0) {
        return Missing(
            "--model-flops-per-token needs --tokens-per-step, or --batch-size and "
            "--sequence-length");
      }
      work.set_note("as given by token");
    }
  }
  work.set_price_per_hour(request.price_per_hour);
  work.set_items_per_step(request.items_per_step);
  std::string item_name = request.item_name;
  MakeValidUtf8(item_name.data(), item_name.size());
  work.set_item_name(item_name);
  return work;
}

}  // namespace utlz
