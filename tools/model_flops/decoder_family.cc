#include "tools/model_flops/decoder_family.h"

#include <algorithm>
#include <iterator>

namespace utlz {
namespace {

constexpr char kSlidingNames[] = "num_key_value_heads sliding_window";
constexpr char kSlidingExpertNames[] = "num_key_value_heads sliding_window num_local_experts";
constexpr char kDeepSeekNames[] =
    "n_routed_experts moe_intermediate_size n_shared_experts first_k_dense_replace";
constexpr char kQwenNames[] = "num_key_value_heads";
constexpr char kQwenExpertNames[] =
    "num_key_value_heads num_experts moe_intermediate_size decoder_sparse_step";
constexpr char kQwenSharedNames[] =
    "num_key_value_heads num_experts moe_intermediate_size shared_expert_intermediate_size";
constexpr char kLlama4Names[] =
    "num_key_value_heads head_dim num_local_experts intermediate_size_mlp attention_chunk_size "
    "interleave_moe_layer_step";

constexpr Family kFamilies[] = {
    {"bloom", false, true},
    {"codegen", false, false},
    {"cohere", true, true},
    {"cohere2", true, true, Windows::kEvery, 4, kSlidingNames},
    {"deepseek_v2", true, false, Windows::kNone, 0, kDeepSeekNames},
    {"deepseek_v3", true, false, Windows::kNone, 0, kDeepSeekNames},
    {"exaone", true, false},
    {"falcon", false, true},
    {"gemma", true, true, Windows::kNone, 0, "num_key_value_heads head_dim"},
    {"gemma2", true, true, Windows::kEvery, 2, "num_key_value_heads head_dim sliding_window"},
    {"gemma3_text", true, true, Windows::kEvery, 6, "sliding_window"},
    {"glm", true, false, Windows::kNone, 0, "num_key_value_heads head_dim"},
    {"glm4", true, false, Windows::kNone, 0, "num_key_value_heads head_dim"},
    {"glm4_moe", true, false, Windows::kNone, 0,
     "num_key_value_heads head_dim n_routed_experts moe_intermediate_size n_shared_experts "
     "first_k_dense_replace"},
    {"gpt2", false, true},
    {"gpt_bigcode", false, true},
    {"gpt_neox", false, false, Windows::kNone, 0, "intermediate_size"},
    {"gpt_oss", true, false, Windows::kEvery, 2,
     "num_key_value_heads head_dim sliding_window num_local_experts"},
    {"gptj", false, false},
    {"granite", true, false},
    {"granitemoe", true, false, Windows::kNone, 0, "num_local_experts"},
    {"internlm2", true, false},
    {"kimi_k2", true, false, Windows::kNone, 0, kDeepSeekNames},
    {"llama", true, false},
    {"llama4_text", true, false, Windows::kChunked, 0, kLlama4Names},
    {"mistral", true, false, Windows::kAll, 0, kSlidingNames},
    {"mixtral", true, false, Windows::kAll, 0, kSlidingExpertNames},
    {"nemotron", false, false, Windows::kNone, 0, "intermediate_size"},
    {"olmo", true, false},
    {"olmo2", true, false},
    {"olmo3", true, false, Windows::kEvery, 4, "sliding_window"},
    {"olmoe", true, false, Windows::kNone, 0, "num_experts"},
    {"opt", false, true, Windows::kNone, 0, "ffn_dim"},
    {"phi", false, false, Windows::kNone, 0, "intermediate_size"},
    {"phi3", true, false, Windows::kAll},
    {"phimoe", true, false, Windows::kAll, 0, kSlidingExpertNames},
    {"qwen2", true, false, Windows::kOptIn, 0, kQwenNames},
    {"qwen2_moe", true, false, Windows::kOptIn, 0, kQwenSharedNames},
    {"qwen3", true, false, Windows::kOptIn, 0, "num_key_value_heads head_dim"},
    {"qwen3_moe", true, false, Windows::kOptIn, 0, kQwenExpertNames},
    {"smollm3", true, true, Windows::kListed, 0, kQwenNames},
    {"stablelm", true, false, Windows::kNone, 0, kQwenNames},
    {"starcoder2", false, true, Windows::kAll, 0, "num_key_value_heads intermediate_size"},
};

}  // namespace

const Family* FamilyOf(const std::string& model_type) {
  const auto found =
      std::find_if(std::begin(kFamilies), std::end(kFamilies),
                   [&](const Family& family) { return model_type == family.model_type; });
  return found == std::end(kFamilies) ? nullptr : found;
}

}  // namespace utlz
