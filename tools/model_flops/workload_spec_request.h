// What the command line says of the model's work, made into one WorkloadSpec.
#ifndef UTLZ_TOOLS_MODEL_FLOPS_WORKLOAD_SPEC_REQUEST_H_
#define UTLZ_TOOLS_MODEL_FLOPS_WORKLOAD_SPEC_REQUEST_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/profile.pb.h"
#include "tools/model_flops/decoder_flops.h"

namespace utlz {

// Zero and empty: not given.
struct WorkloadSpecRequest {
  double flops_per_step = 0;
  double flops_per_token = 0;
  std::string config;  // path of a config.json
  double batch_size = 0;
  double sequence_length = 0;
  double tokens_per_step = 0;
  ModelPass pass = ModelPass::kTraining;
  AttentionTerm attention = AttentionTerm::kCausal;
  double price_per_hour = 0;
  double items_per_step = 0;  // images, requests
  std::string item_name;      // what they are called
};

// InvalidArgument where the FLOPs are given in two ways, or in one that lacks a number; the message
// names the options.
absl::StatusOr<WorkloadSpec> MakeWorkloadSpec(const WorkloadSpecRequest& request);

}  // namespace utlz

#endif  // UTLZ_TOOLS_MODEL_FLOPS_WORKLOAD_SPEC_REQUEST_H_
