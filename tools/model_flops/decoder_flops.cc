#include "tools/model_flops/decoder_flops.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "collector/text/number_text.h"

namespace utlz {
namespace {

double Double(uint64_t value) { return static_cast<double>(value); }

// Weights of queries, keys, values and output of one layer.
double AttentionWeights(const DecoderConfig& config) {
  const double hidden = Double(config.hidden_size);
  const double query = Double(config.heads * config.key_size);
  const double value = Double(config.heads * config.value_size);
  if (!config.latent_attention) {
    const double key_value =
        Double(config.key_value_heads) * Double(config.key_size + config.value_size);
    return hidden * (query + key_value + value);
  }
  const double query_rank = Double(config.query_rank);
  const double query_weights =
      config.query_rank > 0 ? query_rank * (hidden + query) : hidden * query;
  const double rank = Double(config.key_value_rank);
  const double unshared_key = query - Double(config.heads * config.rotary_size);
  return query_weights + hidden * (rank + Double(config.rotary_size)) +
         rank * (unshared_key + value) + hidden * value;
}

double MlpWeights(const DecoderConfig& config, uint64_t intermediate_size) {
  return (config.gated_mlp ? 3 : 2) * Double(config.hidden_size) * Double(intermediate_size);
}

// Of one layer with `experts` of the experts, and what chooses among them.
double ExpertLayerWeights(const DecoderConfig& config, uint64_t experts) {
  const double hidden = Double(config.hidden_size);
  return Double(experts) * MlpWeights(config, config.expert_intermediate_size) +
         MlpWeights(config, config.shared_intermediate_size) + hidden * Double(config.experts) +
         (config.gated_shared_experts ? hidden : 0);
}

double EmbeddingWeights(const DecoderConfig& config) {
  return Double(config.hidden_size) * Double(config.vocabulary);
}

double LayerWeights(const DecoderConfig& config, uint64_t experts) {
  const uint64_t dense_layers = config.layers - config.expert_layers;
  double weights = Double(config.layers) * AttentionWeights(config) +
                   Double(dense_layers) * MlpWeights(config, config.intermediate_size);
  if (config.expert_layers > 0) {
    weights += Double(config.expert_layers) * ExpertLayerWeights(config, experts);
  }
  return weights;
}

// Pairs of positions that one sequence's attention compares in one layer.
double Pairs(const ModelStep& step, double window) {
  const double length = step.sequence_length;
  const double reach = window > 0 ? std::min(window, length) : length;
  if (step.attention == AttentionTerm::kLeftOut) return 0;
  if (step.pass == ModelPass::kDecode) return reach;
  if (step.attention == AttentionTerm::kFull) return length * reach;
  // The first positions see fewer than the window is wide.
  return reach * (reach + 1) / 2 + (length - reach) * reach;
}

// The same where each position looks back to the start of its chunk.
double PairsInChunks(const ModelStep& step, double chunk) {
  const double chunks = std::floor(step.sequence_length / chunk);
  const double rest = step.sequence_length - chunks * chunk;
  if (step.attention == AttentionTerm::kLeftOut) return 0;
  if (step.pass == ModelPass::kDecode) return rest > 0 ? rest : chunk;
  if (step.attention == AttentionTerm::kFull) return chunks * chunk * chunk + rest * rest;
  return chunks * chunk * (chunk + 1) / 2 + rest * (rest + 1) / 2;
}

const char* NameOf(ModelPass pass) {
  switch (pass) {
    case ModelPass::kTraining:
      return "training, 3 × forward";
    case ModelPass::kPrefill:
      return "forward of whole sequences";
    case ModelPass::kDecode:
      return "forward of one token a sequence";
  }
  return "";
}

std::string DescribeAttention(AttentionTerm attention, double share) {
  if (attention == AttentionTerm::kLeftOut) return "attention's quadratic term left out";
  return std::string("attention's quadratic term in, ") +
         (attention == AttentionTerm::kFull ? "unmasked" : "as a causal mask leaves it") + " (" +
         PercentText(share) + " of it)";
}

std::string Describe(const DecoderConfig& config, const ModelStep& step, double attention_share) {
  std::string text =
      config.model_type + " of " + PrefixedText(CountParameters(config), "") + " parameters";
  if (config.expert_layers > 0) {
    text += ", " + PrefixedText(CountActiveParameters(config), "") + " active";
  }
  text += config.tied_embeddings ? " (embeddings tied)" : "";
  text += config.text_part ? ", its text part alone" : "";
  text += "; " + std::string(NameOf(step.pass)) + "; " + CountText(step.batch_size) + " × " +
          CountText(step.sequence_length) +
          (step.pass == ModelPass::kDecode ? " positions" : " tokens a step");
  return text + "; " + DescribeAttention(step.attention, attention_share);
}

}  // namespace

double CountParameters(const DecoderConfig& config) {
  return LayerWeights(config, config.experts) +
         (config.tied_embeddings ? 1 : 2) * EmbeddingWeights(config);
}

double CountActiveParameters(const DecoderConfig& config) {
  return LayerWeights(config, config.active_experts) +
         (config.tied_embeddings ? 1 : 2) * EmbeddingWeights(config);
}

// The input embedding is looked up, not multiplied; the output matrix is multiplied, tied or not.
double CountMatrixFlopsPerToken(const DecoderConfig& config) {
  return 2 * (LayerWeights(config, config.active_experts) + EmbeddingWeights(config));
}

double CountAttentionFlops(const DecoderConfig& config, const ModelStep& step) {
  const double flops_per_pair =
      2 * Double(config.heads) * Double(config.key_size + config.value_size);
  const double plain_layers = Double(config.layers - config.windowed_layers);
  double pairs = plain_layers * Pairs(step, 0);
  if (config.windowed_layers > 0) {
    const double window = Double(config.window);
    pairs += Double(config.windowed_layers) *
             (config.chunked ? PairsInChunks(step, window) : Pairs(step, window));
  }
  return flops_per_pair * pairs;
}

WorkloadSpec CountWorkloadSpec(const DecoderConfig& config, const ModelStep& step) {
  const double tokens_computed =
      step.pass == ModelPass::kDecode ? step.batch_size : step.batch_size * step.sequence_length;
  const double tokens = step.tokens > 0 ? std::min(step.tokens, tokens_computed) : tokens_computed;
  // Padding is held to be spread over all sequences alike.
  const double useful = tokens / tokens_computed;
  const double passes = step.pass == ModelPass::kTraining ? 3 : 1;
  const double attention = useful * step.batch_size * CountAttentionFlops(config, step);
  const double forward = tokens * CountMatrixFlopsPerToken(config) + attention;
  WorkloadSpec work;
  work.set_flops_per_step(passes * forward);
  work.set_flops_per_token(passes * forward / tokens);
  work.set_tokens_per_step(tokens);
  work.set_padded_tokens_per_step(tokens_computed);
  work.set_attention_flops_per_step(passes * attention);
  work.set_forward_flops_per_step(forward);
  work.set_note(Describe(config, step, attention / forward));
  return work;
}

}  // namespace utlz
