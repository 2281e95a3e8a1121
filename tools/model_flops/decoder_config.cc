#include "tools/model_flops/decoder_config.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/json/nesting.h"
#include "tools/model_flops/decoder_family.h"

namespace utlz {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxFileBytes = size_t{16} << 20;
// Larger than any model's, small enough that products of four stay finite and exact enough.
constexpr uint64_t kLargestNumber = 1ull << 32;

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
        Refuse(std::string("its ") + name + " is not a number that a model could have");
        return std::nullopt;
      }
      return found->get<uint64_t>();
    }
    return std::nullopt;
  }

  uint64_t Get(std::initializer_list<const char*> names) {
    const std::optional<uint64_t> number = Find(names);
    if (number.value_or(0) == 0) Refuse(std::string("it lacks ") + *names.begin());
    return number.value_or(0);
  }

  bool IsTrue(const char* name, bool otherwise) const {
    const auto found = json_.find(name);
    return found != json_.end() && found->is_boolean() ? found->get<bool>() : otherwise;
  }

  bool Names(const std::string& name) const { return json_.contains(name); }

  // The first trouble counts.
  void Refuse(const std::string& why) {
    if (wrong_.empty()) wrong_ = why;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  const Json& json_;
  std::string wrong_;
};

uint64_t KeyValueHeads(Numbers* numbers, const DecoderConfig& config) {
  const bool shared = numbers->IsTrue("multi_query", false);
  // An older Falcon shares one head, whatever number it names.
  if (shared && !numbers->IsTrue("new_decoder_architecture", true)) return 1;
  if (const auto heads = numbers->Find({"num_key_value_heads", "num_kv_heads"})) return *heads;
  return shared && !numbers->IsTrue("new_decoder_architecture", false) ? 1 : config.heads;
}

void ReadAttention(Numbers* numbers, DecoderConfig* config) {
  config->heads = numbers->Get({"num_attention_heads", "n_head"});
  config->key_value_heads = KeyValueHeads(numbers, *config);
  if (config->heads == 0) return;
  const std::optional<uint64_t> head_size = numbers->Find({"head_dim"});
  if (!head_size.has_value() && config->hidden_size % config->heads != 0) {
    numbers->Refuse("its hidden_size is no multiple of its num_attention_heads");
  }
  if (config->key_value_heads == 0 || config->heads % config->key_value_heads != 0) {
    numbers->Refuse("its num_attention_heads is no multiple of its num_key_value_heads");
  }
  config->key_size = head_size.value_or(config->hidden_size / config->heads);
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

// How many of layer_types are of a kind; nothing where there is no such list. What is neither full
// nor windowed is not understood.
std::optional<uint64_t> CountLayerTypes(const Json& json, const char* windowed, Numbers* numbers,
                                        uint64_t layers) {
  const auto types = json.find("layer_types");
  if (types == json.end() || types->is_null()) return std::nullopt;
  if (!types->is_array() || types->size() != layers) {
    numbers->Refuse("its layer_types are not as many as its layers");
    return std::nullopt;
  }
  const auto count = [&](const char* type) {
    return static_cast<uint64_t>(std::count(types->begin(), types->end(), Json(type)));
  };
  if (count(windowed) + count("full_attention") != layers) {
    numbers->Refuse("its layer_types name layers of a kind that is not known here");
  }
  return count(windowed);
}

uint64_t ChunkedLayers(const Json& json, Numbers* numbers, uint64_t layers) {
  const auto listed = json.find("no_rope_layers");
  if (listed == json.end() || listed->is_null() || listed->empty()) {
    const uint64_t interval = numbers->Find({"no_rope_layer_interval"}).value_or(4);
    return interval == 0 ? layers : layers - layers / interval;
  }
  const auto chunked = std::count(listed->begin(), listed->end(), Json(1));
  if (!listed->is_array() || listed->size() != layers ||
      static_cast<uint64_t>(chunked + std::count(listed->begin(), listed->end(), Json(0))) !=
          layers) {
    numbers->Refuse("its no_rope_layers are not a 0 or 1 for each layer");
  }
  return static_cast<uint64_t>(chunked);
}

uint64_t WindowedLayers(const Json& json, const Family& family, Numbers* numbers, uint64_t layers) {
  switch (family.windows) {
    case Windows::kNone:
      return 0;
    case Windows::kAll:
      return layers;
    case Windows::kEvery: {
      const uint64_t every =
          numbers->Find({"sliding_window_pattern", "_sliding_window_pattern"}).value_or(0);
      return every == 0 ? layers : layers - layers / every;
    }
    case Windows::kOptIn:
      return layers - std::min(numbers->Get({"max_window_layers"}), layers);
    case Windows::kListed:
      numbers->Refuse("it lacks layer_types");
      return 0;
    case Windows::kChunked:
      return ChunkedLayers(json, numbers, layers);
  }
  return 0;
}

void ReadWindow(const Json& json, const Family& family, Numbers* numbers, DecoderConfig* config) {
  const bool chunked = family.windows == Windows::kChunked;
  // Even where no window is wide enough to matter, a layer of another kind would be miscounted.
  const std::optional<uint64_t> listed = CountLayerTypes(
      json, chunked ? "chunked_attention" : "sliding_attention", numbers, config->layers);
  const bool opt_in = family.windows == Windows::kOptIn || family.windows == Windows::kListed;
  if (family.windows == Windows::kNone || !numbers->IsTrue("use_sliding_window", !opt_in)) return;
  const std::optional<uint64_t> window =
      numbers->Find({chunked ? "attention_chunk_size" : "sliding_window"});
  if (window.value_or(0) == 0) return;
  config->window = *window;
  config->chunked = chunked;
  config->windowed_layers =
      listed.has_value() ? *listed : WindowedLayers(json, family, numbers, config->layers);
}

bool Lists(const Json& json, const char* name, uint64_t layer) {
  const auto list = json.find(name);
  return list != json.end() && list->is_array() &&
         std::find(list->begin(), list->end(), Json(layer)) != list->end();
}

uint64_t ExpertLayers(const Json& json, Numbers* numbers, const DecoderConfig& config) {
  const uint64_t dense_first =
      std::min(numbers->Find({"first_k_dense_replace"}).value_or(0), config.layers);
  const uint64_t step = std::max<uint64_t>(
      1, numbers->Find({"decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step"})
             .value_or(1));
  // DeepSeek counts layers from zero, the others from one; with a step of one it is the same.
  const uint64_t first = json.contains("moe_layer_freq") ? 0 : 1;
  const auto expert_list = json.find("moe_layers");
  const bool listed = expert_list != json.end() && expert_list->is_array();
  uint64_t layers = 0;
  for (uint64_t layer = dense_first; layer < config.layers; ++layer) {
    const bool has_experts =
        listed ? Lists(json, "moe_layers", layer) : (layer + first) % step == 0;
    if (has_experts && !Lists(json, "mlp_only_layers", layer)) ++layers;
  }
  return layers;
}

void ReadExperts(const Json& json, const Family& family, Numbers* numbers, DecoderConfig* config) {
  config->experts =
      numbers->Find({"num_local_experts", "num_experts", "n_routed_experts"}).value_or(0);
  if (config->experts == 0) return;
  config->active_experts = numbers->Get({"num_experts_per_tok", "experts_per_token"});
  if (config->active_experts > config->experts) {
    numbers->Refuse("it has fewer experts than num_experts_per_tok");
  }
  config->expert_intermediate_size =
      numbers->Find({"moe_intermediate_size"}).value_or(config->intermediate_size);
  config->expert_layers = ExpertLayers(json, numbers, *config);
  if (!family.dense_size.empty()) {
    // One expert of the same size sees every token; layers without experts have a size of their
    // own.
    config->shared_intermediate_size = config->intermediate_size;
    config->intermediate_size = numbers->Get({family.dense_size.c_str()});
  } else if (const auto shared = numbers->Find({"shared_expert_intermediate_size"})) {
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

// A name as model types are; what else a file may hold is not shown.
std::string UnknownType(const std::string& model_type) {
  constexpr size_t kLongest = 40;
  const bool plain = model_type.size() <= kLongest &&
                     std::all_of(model_type.begin(), model_type.end(), [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
                     });
  return "its model_type" + (plain ? ", " + model_type + "," : std::string()) +
         " is not a decoder known here";
}

// What says that a model has more than its family's layers.
void RefuseWhatIsMore(const Family& family, const DecoderConfig& config, Numbers* numbers) {
  if (numbers->IsTrue("is_encoder_decoder", false)) numbers->Refuse("the model has an encoder");
  if (numbers->IsTrue("add_cross_attention", false)) {
    numbers->Refuse("the model looks at another one's output");
  }
  const auto embedded = numbers->Find({"word_embed_proj_dim"});
  if (embedded.value_or(config.hidden_size) != config.hidden_size) {
    numbers->Refuse("its embeddings have another size than its layers");
  }
  for (const std::string& name : family.named) {
    if (!numbers->Names(name)) numbers->Refuse("it lacks " + name);
  }
}

// Models of pictures and text hold the decoder's configuration as a part.
bool HasTextPart(const Json& json) {
  const auto part = json.find("text_config");
  return part != json.end() && part->is_object();
}

}  // namespace

absl::StatusOr<DecoderConfig> ParseDecoderConfig(const std::string& text) {
  if (NestsTooDeeply(text)) return Refused("it nests too deeply");
  const Json whole = Json::parse(text, nullptr, false);
  if (!whole.is_object()) return Refused("it is not a JSON object");
  DecoderConfig config;
  config.text_part = HasTextPart(whole);
  Json json = config.text_part ? whole["text_config"] : whole;
  const auto type = json.find("model_type");
  if (type != json.end() && type->is_string()) config.model_type = type->get<std::string>();
  if (config.model_type.empty()) return Refused("it names no model_type");
  const std::optional<Family> family = FamilyOf(config.model_type);
  if (!family.has_value()) return Refused(UnknownType(config.model_type));
  for (const auto& [name, value] : family->defaults.items()) {
    if (json[name].is_null()) json[name] = value;
  }
  Numbers numbers(json);
  config.gated_mlp = family->gated_mlp;
  config.layers = numbers.Get({"num_hidden_layers", "n_layer", "num_layers"});
  config.hidden_size = numbers.Get({"hidden_size", "n_embd", "n_embed"});
  config.vocabulary = numbers.Get({"vocab_size"});
  config.tied_embeddings = numbers.IsTrue("tie_word_embeddings", false);
  config.intermediate_size =
      numbers.Find({"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"}).value_or(0);
  // Where none is named: four times the hidden one, of families that gate nothing.
  if (config.intermediate_size == 0 && config.gated_mlp)
    numbers.Refuse("it lacks intermediate_size");
  if (config.intermediate_size == 0) config.intermediate_size = 4 * config.hidden_size;
  if (config.layers > 65536)
    return Refused("its num_hidden_layers is not a number that a model could have");
  RefuseWhatIsMore(*family, config, &numbers);
  ReadAttention(&numbers, &config);
  ReadWindow(json, *family, &numbers, &config);
  ReadExperts(json, *family, &numbers, &config);
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
