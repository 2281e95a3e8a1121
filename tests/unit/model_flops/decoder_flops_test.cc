// The count of a model's FLOPs against calculations by hand, for configurations as published.
#include "tools/model_flops/decoder_flops.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

// openai-community/gpt2
constexpr char kGpt2[] = R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
  "activation_function": "gelu_new", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_inner": null,
  "n_layer": 12, "n_positions": 1024, "vocab_size": 50257})";

// meta-llama/Meta-Llama-3-8B
constexpr char kLlama3[] = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336,
  "max_position_embeddings": 8192, "num_attention_heads": 32, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 128256})";

// mistralai/Mixtral-8x7B-v0.1
constexpr char kMixtral[] = R"({"architectures": ["MixtralForCausalLM"], "model_type": "mixtral",
  "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336,
  "num_attention_heads": 32, "num_experts_per_tok": 2, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "num_local_experts": 8, "sliding_window": null,
  "tie_word_embeddings": false, "vocab_size": 32000})";

// deepseek-ai/DeepSeek-V3
constexpr char kDeepSeekV3[] = R"({"model_type": "deepseek_v3", "first_k_dense_replace": 3,
  "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512, "moe_intermediate_size": 2048,
  "moe_layer_freq": 1, "n_routed_experts": 256, "n_shared_experts": 1, "num_attention_heads": 128,
  "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128,
  "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "tie_word_embeddings": false, "vocab_size": 129280})";

// Qwen/Qwen1.5-MoE-A2.7B
constexpr char kQwenMoe[] = R"({"model_type": "qwen2_moe", "decoder_sparse_step": 1,
  "hidden_size": 2048, "intermediate_size": 5632, "max_window_layers": 21,
  "moe_intermediate_size": 1408, "num_attention_heads": 16, "num_experts": 60,
  "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 16,
  "shared_expert_intermediate_size": 5632, "sliding_window": 32768, "use_sliding_window": false,
  "tie_word_embeddings": false, "vocab_size": 151936})";

// Qwen/Qwen2.5-0.5B: embeddings tied
constexpr char kQwenSmall[] = R"({"model_type": "qwen2", "hidden_size": 896,
  "intermediate_size": 4864, "num_attention_heads": 14, "num_hidden_layers": 24,
  "num_key_value_heads": 2, "tie_word_embeddings": true, "use_sliding_window": false,
  "sliding_window": 32768, "vocab_size": 151936})";

DecoderConfig Parsed(const std::string& json) {
  const absl::StatusOr<DecoderConfig> config = ParseDecoderConfig(json);
  EXPECT_TRUE(config.ok()) << config.status().message();
  return config.value_or(DecoderConfig());
}

TEST(DecoderFlopsTest, DenseGpt2) {
  const DecoderConfig config = Parsed(kGpt2);
  // A layer: 4 · 768² = 2,359,296 of attention, 2 · 768 · 3072 = 4,718,592 of the MLP.
  // 12 layers: 84,934,656. Output matrix, tied to the embedding: 768 · 50,257 = 38,597,376.
  EXPECT_EQ(CountParameters(config), 123'532'032);
  EXPECT_EQ(CountMatrixFlopsPerToken(config), 247'064'064);
  // Causal: 1024 · 1025 / 2 = 524,800 pairs; each 2 · 12 heads · (64 + 64) = 3,072 FLOPs a layer.
  ModelStep step = {.batch_size = 8, .sequence_length = 1024};
  EXPECT_EQ(CountAttentionFlops(config, step), 12 * 3072.0 * 524'800);
  // 3 · (8192 tokens · 247,064,064 + 8 sequences · 19,346,227,200).
  const ModelWork work = CountModelWork(config, step);
  EXPECT_EQ(work.flops_per_step(), 6'536'155'889'664);
  EXPECT_EQ(work.attention_flops_per_step(), 3 * 154'769'817'600.0);
  EXPECT_EQ(work.tokens_per_step(), 8192);
  EXPECT_NE(work.note().find("as a causal mask leaves it (7.1 %"), std::string::npos)
      << work.note();
  EXPECT_NE(work.note().find("embeddings tied"), std::string::npos) << work.note();

  step.attention = AttentionTerm::kFull;
  EXPECT_EQ(CountAttentionFlops(config, step), 12 * 3072.0 * 1024 * 1024);
  step.attention = AttentionTerm::kLeftOut;
  EXPECT_EQ(CountModelWork(config, step).flops_per_step(), 3 * 8192 * 247'064'064.0);
  EXPECT_NE(CountModelWork(config, step).note().find("left out"), std::string::npos);
}

TEST(DecoderFlopsTest, GroupedQueriesLlama3) {
  const DecoderConfig config = Parsed(kLlama3);
  // A layer: queries and output 2 · 4096², keys and values 2 · 4096 · 1024, MLP 3 · 4096 · 14,336:
  // 33,554,432 + 8,388,608 + 176,160,768 = 218,103,808; 32 layers 6,979,321,856.
  // Embedding and output 4096 · 128,256 = 525,336,576 each. Published: 8.03e9 with norms (266,240).
  EXPECT_EQ(CountParameters(config), 8'029'995'008);
  EXPECT_EQ(CountMatrixFlopsPerToken(config), 2 * (6'979'321'856.0 + 525'336'576));
  // Causal: 8192 · 8193 / 2 pairs of 2 · 32 · 256 FLOPs in 32 layers.
  const ModelStep prefill = {.batch_size = 1, .sequence_length = 8192, .pass = ModelPass::kPrefill};
  EXPECT_EQ(CountAttentionFlops(config, prefill), 32 * 16'384.0 * 33'558'528);
  EXPECT_EQ(CountModelWork(config, prefill).flops_per_step(),
            8192 * 15'009'316'864.0 + 17'594'333'528'064.0);
  // Decoding 64 sequences at position 2048: each new token looks at 2048 positions.
  const ModelStep decode = {.batch_size = 64, .sequence_length = 2048, .pass = ModelPass::kDecode};
  const ModelWork work = CountModelWork(config, decode);
  EXPECT_EQ(work.flops_per_step(), 64 * (15'009'316'864.0 + 32 * 16'384.0 * 2048));
  EXPECT_EQ(work.tokens_per_step(), 64);
}

TEST(DecoderFlopsTest, ExpertsMixtral) {
  const DecoderConfig config = Parsed(kMixtral);
  // A layer: attention 41,943,040, an expert 176,160,768, their choice 4096 · 8 = 32,768.
  // All 8 experts: 1,451,261,952; the 2 active: 394,297,344; embedding and output 131,072,000 each.
  // Published: 46.7e9 in all, 12.9e9 active.
  EXPECT_EQ(CountParameters(config), 32 * 1'451'261'952.0 + 2 * 131'072'000.0);
  EXPECT_EQ(CountActiveParameters(config), 32 * 394'297'344.0 + 2 * 131'072'000.0);
  EXPECT_EQ(CountMatrixFlopsPerToken(config), 25'497'174'016);
  const ModelStep step = {.batch_size = 4, .sequence_length = 4096};
  // 3 · (16,384 · 25,497,174,016 + 4 · 32 · 16,384 · 4096 · 4097 / 2).
  EXPECT_EQ(CountModelWork(config, step).flops_per_step(),
            3 * (16'384 * 25'497'174'016.0 + 4 * 32 * 16'384.0 * 8'390'656));
}

TEST(DecoderFlopsTest, LatentAttentionDeepSeekV3) {
  const DecoderConfig config = Parsed(kDeepSeekV3);
  // Attention: queries 7168 · 1536 + 1536 · 128 · 192 = 48,758,784; keys and values
  // 7168 · 576 + 512 · 128 · 256 = 20,905,984; output 16,384 · 7168 = 117,440,512; 187,105,280.
  // Dense MLP 3 · 7168 · 18,432 = 396,361,728, three times; an expert 3 · 7168 · 2048 = 44,040,192,
  // 8 of them and a shared one 396,361,728, choice 7168 · 256 = 1,835,008, in 58 layers; output
  // 926,679,040. Published: 37e9 active, 671e9 in all.
  EXPECT_EQ(CountMatrixFlopsPerToken(config), 2 * 36'624'596'992.0);
  EXPECT_EQ(CountActiveParameters(config), 36'624'596'992.0 + 926'679'040);
  EXPECT_EQ(CountParameters(config), 61 * 187'105'280.0 + 3 * 396'361'728.0 +
                                         58 * (257 * 44'040'192.0 + 1'835'008) + 2 * 926'679'040.0);
  EXPECT_NEAR(CountParameters(config), 671e9, 0.5e9);
  // Scores of 192 and values of 128 numbers a head: 2 · 128 · 320 FLOPs a pair and layer.
  const ModelStep step = {.batch_size = 1, .sequence_length = 1000, .pass = ModelPass::kDecode};
  EXPECT_EQ(CountAttentionFlops(config, step), 61 * 81'920.0 * 1000);
}

TEST(DecoderFlopsTest, SharedExpertsQwenMoe) {
  const DecoderConfig config = Parsed(kQwenMoe);
  // A layer: attention 4 · 2048² = 16,777,216; 4 experts of 3 · 2048 · 1408 = 8,650,752; shared
  // 3 · 2048 · 5632 = 34,603,008 and its gate 2048; choice 2048 · 60 = 122,880; output 311,164,928.
  EXPECT_EQ(CountMatrixFlopsPerToken(config),
            2 * (24 * (16'777'216.0 + 4 * 8'650'752 + 34'603'008 + 2048 + 122'880) + 311'164'928));
  // Published: 14.3e9 parameters, 2.7e9 activated.
  EXPECT_NEAR(CountParameters(config), 14.3e9, 0.05e9);
  EXPECT_NEAR(CountActiveParameters(config), 2.7e9, 0.05e9);
  EXPECT_EQ(config.windowed_layers, 0u);
}

TEST(DecoderFlopsTest, TiedEmbeddingsCountOnceAsWeightsAndOnceAsWork) {
  const DecoderConfig config = Parsed(kQwenSmall);
  // A layer: 896 · (896 + 2 · 128 + 896) = 1,835,008 and 3 · 896 · 4864 = 13,074,432; 24 layers
  // 357,826,560; embedding 896 · 151,936 = 136,134,656. Published: 0.49e9, 0.36e9 without it.
  EXPECT_EQ(CountParameters(config), 357'826'560.0 + 136'134'656);
  EXPECT_EQ(CountMatrixFlopsPerToken(config), 2 * (357'826'560.0 + 136'134'656));
}

TEST(DecoderFlopsTest, WindowsBoundWhatATokenLooksAt) {
  std::string json = kLlama3;
  json.replace(json.find("\"vocab_size\""), 0,
               "\"sliding_window\": 100, \"sliding_window_pattern\": 4, ");
  const DecoderConfig config = Parsed(json);
  EXPECT_EQ(config.windowed_layers, 24u);
  const ModelStep step = {.batch_size = 1, .sequence_length = 1000};
  // Windowed: 100 · 101 / 2 pairs of the first hundred, then 900 · 100. Whole: 1000 · 1001 / 2.
  EXPECT_EQ(CountAttentionFlops(config, step), 16'384.0 * (8 * 500'500.0 + 24 * 95'050.0));
}

TEST(DecoderFlopsTest, PaddingIsNotTheModelsWork) {
  const DecoderConfig config = Parsed(kGpt2);
  ModelStep step = {.batch_size = 8, .sequence_length = 1024};
  const double whole = CountModelWork(config, step).flops_per_step();
  step.tokens = 6144;  // three quarters
  const ModelWork work = CountModelWork(config, step);
  EXPECT_EQ(work.flops_per_step(), 0.75 * whole);
  EXPECT_EQ(work.tokens_per_step(), 6144);
  EXPECT_EQ(work.padded_tokens_per_step(), 8192);
}

TEST(DecoderConfigTest, RefusesWhatItCannotCount) {
  for (const char* json : {
           "",
           "[1]",
           "{",
           "{}",
           R"({"model_type": "t5"})",
           R"({"model_type": 3})",
           R"({"model_type": "llama"})",
           R"({"model_type": "llama", "hidden_size": -1, "num_hidden_layers": 2})",
           R"({"model_type": "llama", "hidden_size": 1e30, "num_hidden_layers": 2,
               "num_attention_heads": 2, "vocab_size": 5})",
           R"({"model_type": "llama", "hidden_size": 99999999999, "num_hidden_layers": 2,
               "num_attention_heads": 2, "vocab_size": 5})",
           R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4000000000,
               "num_attention_heads": 2, "vocab_size": 5})",
           R"({"model_type": "mixtral", "hidden_size": 64, "num_hidden_layers": 2,
               "num_attention_heads": 2, "vocab_size": 5, "num_local_experts": 8})",
       }) {
    const auto config = ParseDecoderConfig(json);
    ASSERT_FALSE(config.ok()) << json;
    EXPECT_NE(config.status().message().find("--model-flops-per-token"), absl::string_view::npos);
  }
  EXPECT_FALSE(ReadDecoderConfig("/does/not/exist").ok());
}

}  // namespace
}  // namespace utlz
