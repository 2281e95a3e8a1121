// The shape of a decoder-only language model, from the config.json that Hugging Face publishes
// beside its weights: what its matrices and its attention need to be counted.
//
// Thread safety: functions only.
#ifndef UTLZ_TOOLS_MODEL_FLOPS_DECODER_CONFIG_H_
#define UTLZ_TOOLS_MODEL_FLOPS_DECODER_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace utlz {

struct DecoderConfig {
  std::string model_type;  // "llama", "gpt2", …
  bool text_part = false;  // of a model that has other parts, which are left out
  uint64_t layers = 0;
  uint64_t hidden_size = 0;
  uint64_t vocabulary = 0;
  bool tied_embeddings = false;  // the output matrix is the input embedding

  uint64_t heads = 0;
  uint64_t key_value_heads = 0;  // fewer than heads: grouped-query attention
  uint64_t key_size = 0;         // of one head, for queries and keys
  uint64_t value_size = 0;       // of one head, for values
  uint64_t window = 0;           // positions that a windowed layer looks at
  uint64_t windowed_layers = 0;
  bool chunked = false;  // a windowed layer looks back to the last multiple of the window instead

  // Latent attention (DeepSeek): queries and keys and values pass through narrower matrices.
  bool latent_attention = false;
  uint64_t query_rank = 0;  // 0: queries do not
  uint64_t key_value_rank = 0;
  uint64_t rotary_size = 0;  // part of key_size that all heads share

  bool gated_mlp = true;           // three matrices, not two
  uint64_t intermediate_size = 0;  // of dense layers
  uint64_t expert_layers = 0;      // layers with a mixture of experts
  uint64_t experts = 0;            // in such a layer
  uint64_t active_experts = 0;     // of them, for one token
  uint64_t expert_intermediate_size = 0;
  uint64_t shared_intermediate_size = 0;  // of experts that every token passes
  bool gated_shared_experts = false;      // their sum is weighed by one more number
};

// InvalidArgument where the text is no configuration, lacks a number, or is of a model that is not
// such a decoder (or not one that is known); the message says which, and what to do.
absl::StatusOr<DecoderConfig> ParseDecoderConfig(const std::string& json);

// The same from a file of at most 16 MiB.
absl::StatusOr<DecoderConfig> ReadDecoderConfig(const std::string& path);

}  // namespace utlz

#endif  // UTLZ_TOOLS_MODEL_FLOPS_DECODER_CONFIG_H_
