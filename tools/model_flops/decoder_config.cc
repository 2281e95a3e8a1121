#include "tools/model_flops/decoder_config.h"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

namespace utlz {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxFileBytes = size_t{16} << 20;
// Larger than any model's, small enough that products of four stay finite and exact enough.
constexpr uint64_t kLargestNumber = 1ull << 32;

// What a configuration of one type leaves unsaid.
struct Family {
  const char* model_type;
  bool gated_mlp;
  bool tied_embeddings;  // where it does not say
};

constexpr Family kFamilies[] = {
    {"bloom", false, true},       {"codegen", false, false},    {"cohere", true, true},
    {"deepseek_v2", true, false}, {"deepseek_v3", true, false}, {"exaone", true, false},
    {"falcon", false, true},      {"gemma", true, true},        {"gemma2", true, true},
    {"gemma3_text", true, true},  {"glm", true, false},         {"glm4", true, false},
    {"gpt2", false, true},        {"gpt_bigcode", false, true}, {"gpt_neox", false, false},
    {"gpt_oss", true, false},     {"gptj", false, false},       {"granite", true, false},
    {"granitemoe", true, false},  {"internlm2", true, false},   {"llama", true, false},
    {"mistral", true, false},     {"mixtral", true, false},     {"nemotron", false, false},
    {"olmo", true, false},        {"olmo2", true, false},       {"olmoe", true, false},
    {"opt", false, true},         {"phi", false, false},        {"phi3", true, false},
    {"phimoe", true, false},      {"qwen2", true, false},       {"qwen2_moe", true, false},
    {"qwen3", true, false},       {"qwen3_moe", true, false},   {"smollm3", true, true},
    {"stablelm", true, false},    {"starcoder2", false, true},
};

const Family* FamilyOf(const std::string& model_type) {
  const auto found =
      std::find_if(std::begin(kFamilies), std::end(kFamilies),
                   [&](const Family& family) { return model_type == family.model_type; });
  return found == std::end(kFamilies) ? nullptr : found;
}

// Numbers of a configuration by the names that families give them. Remembers what was wrong.
class Numbers {
 public:
  explicit Numbers(const Json& json) : json_(json) {}

  // The first name that holds a number; absent and null are the same.
  std::optional<uint64_t> Find(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const auto found = json_.find(name);
      if (found == json_.end() || found->is_null()) continue;
      if (!found->is_number_unsigned() || found->get<uint64_t>() > kLargestNumber) {
        wrong_ = std::string("its ") + name + " is not a number that a model could have";
        return std::nullopt;
      }
      return found->get<uint64_t>();
    }
    return std::nullopt;
  }

  uint64_t Get(std::initializer_list<const char*> names) {
    const std::optional<uint64_t> number = Find(names);
    if (wrong_.empty() && number.value_or(0) == 0)
      wrong_ = std::string("it lacks ") + *names.begin();
    return number.value_or(0);
  }

  bool IsTrue(const char* name, bool otherwise) const {
    const auto found = json_.find(name);
    return found != json_.end() && found->is_boolean() ? found->get<bool>() : otherwise;
  }

  const std::string& wrong() const { return wrong_; }

 private:
  const Json& json_;
  std::string wrong_;
};

uint64_t KeyValueHeads(Numbers* numbers, const DecoderConfig& config) {
  if (const auto heads = numbers->Find({"num_key_value_heads", "num_kv_heads"})) return *heads;
  const bool one_by_default = config.model_type == "falcon" || config.model_type == "gpt_bigcode";
  return numbers->IsTrue("multi_query", one_by_default) ? 1 : config.heads;
}

void ReadAttention(Numbers* numbers, DecoderConfig* config) {
  config->heads = numbers->Get({"num_attention_heads", "n_head"});
  config->key_value_heads = KeyValueHeads(numbers, *config);
  const uint64_t even_size = config->heads == 0 ? 0 : config->hidden_size / config->heads;
  config->key_size = numbers->Find({"head_dim"}).value_or(even_size);
  config->value_size = config->key_size;
  const std::optional<uint64_t> latent_rank = numbers->Find({"kv_lora_rank"});
  if (!latent_rank.has_value()) return;
  config->latent_attention = true;
  config->key_value_rank = *latent_rank;
  config->query_rank = numbers->Find({"q_lora_rank"}).value_or(0);
  config->rotary_size = numbers->Get({"qk_rope_head_dim"});
  config->key_size = numbers->Get({"qk_nope_head_dim"}) + config->rotary_size;
  config->value_size = numbers->Get({"v_head_dim"});
}

// Layers that look back over a window only: listed, or every one but each n-th, or all.
void ReadWindow(const Json& json, Numbers* numbers, DecoderConfig* config) {
  const std::optional<uint64_t> window = numbers->Find({"sliding_window"});
  if (!window.has_value() || *window == 0 || !numbers->IsTrue("use_sliding_window", true)) return;
  config->window = *window;
  config->windowed_layers = config->layers;
  const auto types = json.find("layer_types");
  if (types != json.end() && types->is_array() && types->size() == config->layers) {
    config->windowed_layers =
        static_cast<uint64_t>(std::count(types->begin(), types->end(), Json("sliding_attention")));
  } else if (const auto pattern = numbers->Find({"sliding_window_pattern"})) {
    if (*pattern > 0) config->windowed_layers -= config->layers / *pattern;
  } else if (config->model_type == "gemma2" || config->model_type == "gpt_oss") {
    config->windowed_layers = (config->layers + 1) / 2;
  } else if (config->model_type.starts_with("qwen")) {
    const uint64_t first = numbers->Find({"max_window_layers"}).value_or(config->layers);
    config->windowed_layers -= std::min(first, config->layers);
  }
}

uint64_t ExpertLayers(const Json& json, Numbers* numbers, const DecoderConfig& config) {
  const uint64_t dense_first =
      std::min(numbers->Find({"first_k_dense_replace"}).value_or(0), config.layers);
  const uint64_t step =
      std::max<uint64_t>(1, numbers->Find({"decoder_sparse_step", "moe_layer_freq"}).value_or(1));
  uint64_t layers = 0;
  for (uint64_t layer = dense_first; layer < config.layers; ++layer) {
    // Qwen counts layers from one, DeepSeek from zero; with a step of one it is the same.
    const bool from_one = json.contains("decoder_sparse_step");
    const auto dense = json.find("mlp_only_layers");
    const bool listed = dense != json.end() && dense->is_array() &&
                        std::find(dense->begin(), dense->end(), Json(layer)) != dense->end();
    if ((layer + (from_one ? 1 : 0)) % step == 0 && !listed) ++layers;
  }
  return layers;
}

void ReadExperts(const Json& json, Numbers* numbers, DecoderConfig* config) {
  config->experts =
      numbers->Find({"num_local_experts", "num_experts", "n_routed_experts"}).value_or(0);
  if (config->experts == 0) return;
  config->active_experts = numbers->Get({"num_experts_per_tok", "experts_per_token"});
  config->expert_intermediate_size =
      numbers->Find({"moe_intermediate_size"}).value_or(config->intermediate_size);
  config->expert_layers = ExpertLayers(json, numbers, *config);
  if (const auto shared = numbers->Find({"shared_expert_intermediate_size"})) {
    config->shared_intermediate_size = *shared;
    config->gated_shared_experts = true;
  } else if (const auto shared_experts = numbers->Find({"n_shared_experts"})) {
    config->shared_intermediate_size = *shared_experts * config->expert_intermediate_size;
  }
}

absl::Status Refused(const std::string& why) {
  return absl::InvalidArgumentError(
      "the model's configuration cannot be used: " + why +
      "; give the model's FLOPs by --model-flops-per-token or --model-flops-per-step instead");
}

// Models of pictures and text hold the decoder's configuration as a part.
const Json& TextPart(const Json& json) {
  const auto part = json.find("text_config");
  return part != json.end() && part->is_object() ? *part : json;
}

}  // namespace

absl::StatusOr<DecoderConfig> ParseDecoderConfig(const std::string& text) {
  const Json whole = Json::parse(text, nullptr, false);
  if (!whole.is_object()) return Refused("it is not a JSON object");
  const Json& json = TextPart(whole);
  Numbers numbers(json);
  DecoderConfig config;
  const auto type = json.find("model_type");
  if (type != json.end() && type->is_string()) config.model_type = type->get<std::string>();
  const Family* family = FamilyOf(config.model_type);
  if (family == nullptr) {
    return Refused(config.model_type.empty() ? "it names no model_type"
                                             : "its model_type is not a decoder known here");
  }
  if (numbers.IsTrue("is_encoder_decoder", false)) return Refused("the model has an encoder");
  config.gated_mlp = family->gated_mlp;
  config.layers = numbers.Get({"num_hidden_layers", "n_layer"});
  config.hidden_size = numbers.Get({"hidden_size", "n_embd", "n_embed"});
  config.vocabulary = numbers.Get({"vocab_size"});
  config.tied_embeddings = numbers.IsTrue("tie_word_embeddings", family->tied_embeddings);
  config.intermediate_size =
      numbers.Find({"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"})
          .value_or(4 * config.hidden_size);
  if (config.layers > 65536)
    return Refused("its num_hidden_layers is not a number that a model could have");
  ReadAttention(&numbers, &config);
  ReadWindow(json, &numbers, &config);
  ReadExperts(json, &numbers, &config);
  if (!numbers.wrong().empty()) return Refused(numbers.wrong());
  return config;
}

absl::StatusOr<DecoderConfig> ReadDecoderConfig(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.empty()) return absl::NotFoundError("cannot read the model's configuration " + path);
  if (text.size() > kMaxFileBytes) return Refused(path + " is larger than any configuration");
  return ParseDecoderConfig(text);
}

}  // namespace utlz
