// The count of a model's FLOPs against calculations by hand, for configurations as published.
#include "tools/model_flops/decoder_flops.h"

#include <gtest/gtest.h>

#include <string>

#include "tools/json/nesting.h"

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
  const WorkloadSpec work = CountWorkloadSpec(config, step);
  EXPECT_EQ(work.flops_per_step(), 6'536'155'889'664);
  EXPECT_EQ(work.attention_flops_per_step(), 3 * 154'769'817'600.0);
  EXPECT_EQ(work.tokens_per_step(), 8192);
  EXPECT_NE(work.note().find("as a causal mask leaves it (7.1 %"), std::string::npos)
      << work.note();
  EXPECT_NE(work.note().find("embeddings tied"), std::string::npos) << work.note();

  step.attention = AttentionTerm::kFull;
  EXPECT_EQ(CountAttentionFlops(config, step), 12 * 3072.0 * 1024 * 1024);
  step.attention = AttentionTerm::kLeftOut;
  EXPECT_EQ(CountWorkloadSpec(config, step).flops_per_step(), 3 * 8192 * 247'064'064.0);
  EXPECT_NE(CountWorkloadSpec(config, step).note().find("left out"), std::string::npos);
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
  EXPECT_EQ(CountWorkloadSpec(config, prefill).flops_per_step(),
            8192 * 15'009'316'864.0 + 17'594'333'528'064.0);
  // Decoding 64 sequences at position 2048: each new token looks at 2048 positions.
  const ModelStep decode = {.batch_size = 64, .sequence_length = 2048, .pass = ModelPass::kDecode};
  const WorkloadSpec work = CountWorkloadSpec(config, decode);
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
  EXPECT_EQ(CountWorkloadSpec(config, step).flops_per_step(),
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
  json.replace(json.find("\"llama\""), 7, "\"cohere2\"");
  const DecoderConfig config = Parsed(json);
  EXPECT_EQ(config.windowed_layers, 24u);
  const ModelStep step = {.batch_size = 1, .sequence_length = 1000};
  // Windowed: 100 · 101 / 2 pairs of the first hundred, then 900 · 100. Whole: 1000 · 1001 / 2.
  EXPECT_EQ(CountAttentionFlops(config, step), 16'384.0 * (8 * 500'500.0 + 24 * 95'050.0));
}

TEST(DecoderFlopsTest, PaddingIsNotTheModelsWork) {
  const DecoderConfig config = Parsed(kGpt2);
  ModelStep step = {.batch_size = 8, .sequence_length = 1024};
  const double whole = CountWorkloadSpec(config, step).flops_per_step();
  step.tokens = 6144;  // three quarters
  const WorkloadSpec work = CountWorkloadSpec(config, step);
  EXPECT_EQ(work.flops_per_step(), 0.75 * whole);
  EXPECT_EQ(work.tokens_per_step(), 6144);
  EXPECT_EQ(work.padded_tokens_per_step(), 8192);
}

// meta-llama/Llama-4-Scout-17B-16E
constexpr char kLlama4[] = R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
  "attention_chunk_size": 8192, "head_dim": 128, "hidden_size": 5120,
  "interleave_moe_layer_step": 1, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
  "no_rope_layers": [], "num_attention_heads": 40, "num_experts_per_tok": 1,
  "num_hidden_layers": 48, "num_key_value_heads": 8, "num_local_experts": 16,
  "vocab_size": 202048}, "vision_config": {"hidden_size": 1408, "num_hidden_layers": 34}})";

std::string With(std::string json, const std::string& old, const std::string& replacement) {
  const size_t at = json.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return at == std::string::npos ? json : json.replace(at, old.size(), replacement);
}

TEST(DecoderFlopsTest, ChunksAndSharedExpertLlama4) {
  const DecoderConfig scout = Parsed(kLlama4);
  // A layer: queries and output 2 · 5120², keys and values 2 · 5120 · 1024: 62,914,560. An expert
  // 3 · 5120 · 8192 = 125,829,120; every token passes one of 16 and the shared one, chosen by
  // 5120 · 16 = 81,920: 314,654,720 of 48 layers. Output 5120 · 202,048 = 1,034,485,760.
  EXPECT_EQ(CountMatrixFlopsPerToken(scout), 2 * (48 * 314'654'720.0 + 1'034'485'760));
  EXPECT_EQ(CountParameters(scout),
            48 * (62'914'560 + 17 * 125'829'120.0 + 81'920) + 2 * 1'034'485'760.0);
  // Published: 17e9 active, 109e9 with the part that sees pictures.
  EXPECT_NEAR(CountActiveParameters(scout), 17.2e9, 0.1e9);
  // Three layers of four look back within chunks of 8192: 36 of 48. Of 20,000 positions two whole
  // chunks and 3616: 2 · 8192 · 8193 / 2 + 3616 · 3617 / 2 pairs; whole 20,000 · 20,001 / 2.
  ModelStep step = {.batch_size = 1, .sequence_length = 20'000, .pass = ModelPass::kPrefill};
  const double per_pair = 2 * 40 * 256;
  EXPECT_EQ(CountAttentionFlops(scout, step),
            per_pair * (36 * (67'117'056.0 + 6'539'536) + 12 * 200'010'000.0));
  step.attention = AttentionTerm::kFull;
  EXPECT_EQ(CountAttentionFlops(scout, step),
            per_pair * (36 * (2 * 67'108'864.0 + 3616 * 3616) + 12 * 400'000'000.0));
  // The 20,000th position is the 3616th of its chunk, the 16,384th the last of one.
  step = {.batch_size = 1, .sequence_length = 20'000, .pass = ModelPass::kDecode};
  EXPECT_EQ(CountAttentionFlops(scout, step), per_pair * (36 * 3616.0 + 12 * 20'000.0));
  step.sequence_length = 16'384;
  EXPECT_EQ(CountAttentionFlops(scout, step), per_pair * (36 * 8192.0 + 12 * 16'384.0));
  EXPECT_NE(CountWorkloadSpec(scout, step).note().find("its text part alone"), std::string::npos);

  // Llama-4-Maverick: 128 experts in every second layer, a wider MLP in the others.
  const DecoderConfig maverick =
      Parsed(With(With(kLlama4, "\"num_local_experts\": 16", "\"num_local_experts\": 128"),
                  "moe_layer_step\": 1", "moe_layer_step\": 2"));
  // 24 · (2 · 125,829,120 + 5120 · 128) and 24 · 3 · 5120 · 16,384 beside 48 attentions.
  EXPECT_EQ(CountMatrixFlopsPerToken(maverick),
            2 * (48 * 62'914'560.0 + 24 * (251'658'240.0 + 655'360) + 24 * 251'658'240.0 +
                 1'034'485'760));
  EXPECT_NEAR(CountParameters(maverick), 400e9, 3e9);
  // Lists say it layer by layer.
  const DecoderConfig listed =
      Parsed(With(kLlama4, "\"no_rope_layers\": []",
                  "\"moe_layers\": [1, 3, 5], \"no_rope_layer_interval\": 2"));
  EXPECT_EQ(listed.expert_layers, 3u);
  EXPECT_EQ(listed.windowed_layers, 24u);
}

// google/gemma-3-4b-it, which leaves heads and vocabulary to the family
constexpr char kGemma3[] = R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560,
  "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34,
  "sliding_window": 1024}, "vision_config": {"hidden_size": 1152}})";

TEST(DecoderFlopsTest, FiveWindowsOfSixGemma3) {
  const DecoderConfig config = Parsed(kGemma3);
  // A layer: queries and output 2 · 2560 · 8 · 256, keys and values 2 · 2560 · 4 · 256: 15,728,640;
  // MLP 3 · 2560 · 10,240 = 78,643,200; 34 layers 3,208,642,560; output 2560 · 262,208.
  EXPECT_EQ(CountMatrixFlopsPerToken(config), 2 * (3'208'642'560.0 + 671'252'480));
  EXPECT_TRUE(config.tied_embeddings);
  // Layers 6, 12, …, 30 see everything.
  EXPECT_EQ(config.windowed_layers, 29u);
  const ModelStep step = {.batch_size = 1, .sequence_length = 4096, .pass = ModelPass::kDecode};
  EXPECT_EQ(CountAttentionFlops(config, step), 2 * 8 * 512.0 * (29 * 1024 + 5 * 4096));
}

TEST(DecoderFlopsTest, EverySecondLayerHasAWindowGemma2AndGptOss) {
  // google/gemma-2-9b
  const DecoderConfig gemma = Parsed(R"({"model_type": "gemma2", "head_dim": 256,
    "hidden_size": 3584, "intermediate_size": 14336, "num_attention_heads": 16,
    "num_hidden_layers": 42, "num_key_value_heads": 8, "sliding_window": 4096,
    "vocab_size": 256000})");
  // 3584 · (2 · 4096 + 2 · 2048) + 3 · 3584 · 14,336 = 198,180,864 a layer. Published: 9.24e9.
  EXPECT_EQ(CountMatrixFlopsPerToken(gemma), 2 * (42 * 198'180'864.0 + 917'504'000));
  EXPECT_NEAR(CountParameters(gemma), 9.24e9, 0.01e9);
  EXPECT_EQ(gemma.windowed_layers, 21u);
  // openai/gpt-oss-20b
  const DecoderConfig oss = Parsed(R"({"model_type": "gpt_oss", "head_dim": 64,
    "hidden_size": 2880, "intermediate_size": 2880, "num_attention_heads": 64,
    "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 8,
    "num_local_experts": 32, "sliding_window": 128, "tie_word_embeddings": false,
    "vocab_size": 201088})");
  // Attention 2880 · (2 · 4096 + 2 · 512) = 26,542,080; an expert 3 · 2880² = 24,883,200; choice
  // 2880 · 32. Published: 20.9e9, 3.6e9 active (with the output matrix alone).
  EXPECT_EQ(CountMatrixFlopsPerToken(oss),
            2 * (24 * (26'542'080 + 4 * 24'883'200.0 + 92'160) + 579'133'440));
  EXPECT_NEAR(CountParameters(oss), 20.9e9, 0.05e9);
  EXPECT_EQ(oss.windowed_layers, 12u);
}

TEST(DecoderFlopsTest, OldFalconSharesOneHeadWhateverItNames) {
  // tiiuae/falcon-7b, as saved again by the library
  const std::string json = R"({"model_type": "falcon", "hidden_size": 4544, "multi_query": true,
    "new_decoder_architecture": false, "num_attention_heads": 71, "num_hidden_layers": 32,
    "num_kv_heads": 71, "vocab_size": 65024})";
  const DecoderConfig config = Parsed(json);
  // 4544 · (2 · 4544 + 2 · 64) + 2 · 4544 · 18,176 = 207,060,992 a layer. Published: 6.9e9.
  EXPECT_EQ(CountMatrixFlopsPerToken(config), 2 * (32 * 207'060'992.0 + 295'469'056));
  EXPECT_NEAR(CountParameters(config), 6.92e9, 0.01e9);
  // Falcon-40b's architecture has as many as it names.
  EXPECT_EQ(Parsed(With(json, "architecture\": false", "architecture\": true")).key_value_heads,
            71u);
}

TEST(DecoderFlopsTest, WindowsThatAreNotAskedForAreNone) {
  const std::string plain = R"({"model_type": "qwen3", "head_dim": 128, "hidden_size": 4096,
    "intermediate_size": 12288, "max_window_layers": 30, "num_attention_heads": 32,
    "num_hidden_layers": 36, "num_key_value_heads": 8, "sliding_window": 4096,
    "vocab_size": 151936})";
  EXPECT_EQ(Parsed(plain).windowed_layers, 0u);
  // 4096 · (2 · 4096 + 2 · 1024) + 3 · 4096 · 12,288 = 192,937,984 a layer. Published: 8.2e9.
  EXPECT_EQ(CountMatrixFlopsPerToken(Parsed(plain)), 2 * (36 * 192'937'984.0 + 622'329'856));
  EXPECT_EQ(
      Parsed(With(plain, "\"sliding", "\"use_sliding_window\": true, \"sliding")).windowed_layers,
      6u);
  // Llama has no windows, whatever a file names.
  EXPECT_EQ(Parsed(With(kLlama3, "\"vocab_size\"", "\"sliding_window\": 100, \"vocab_size\""))
                .windowed_layers,
            0u);
}

TEST(DecoderFlopsTest, LatentAttentionWithoutQueryRankDeepSeekV2Lite) {
  const DecoderConfig config = Parsed(R"({"model_type": "deepseek_v2", "first_k_dense_replace": 1,
    "hidden_size": 2048, "intermediate_size": 10944, "kv_lora_rank": 512,
    "moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_routed_experts": 64,
    "n_shared_experts": 2, "num_attention_heads": 16, "num_experts_per_tok": 6,
    "num_hidden_layers": 27, "num_key_value_heads": 16, "q_lora_rank": null,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400})");
  // Attention: queries 2048 · 16 · 192, keys and values 2048 · 576 + 512 · 16 · 256, output
  // 2048²: 13,762,560. Dense 3 · 2048 · 10,944 = 67,239,936, once; an expert 8,650,752: six, and
  // two shared ones; choice 131,072; output 209,715,200. Published: 15.7e9, 2.4e9 active.
  EXPECT_EQ(CountMatrixFlopsPerToken(config),
            2 * (27 * 13'762'560.0 + 67'239'936 + 26 * (8 * 8'650'752.0 + 131'072) + 209'715'200));
  EXPECT_NEAR(CountParameters(config), 15.7e9, 0.05e9);
}

TEST(DecoderConfigTest, LayersOfAnotherKindAreRefused) {
  const char* const kLayers = R"("layer_types": ["full_attention", "linear_attention"],)";
  for (const std::string& json : {
           // layers that are neither full nor windowed, or not told one by one
           R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, )" +
               std::string(kLayers) +
               R"("num_attention_heads": 2, "intermediate_size": 9, "vocab_size": 5})",
           With(kGemma3, "\"sliding_window\"", "\"layer_types\": [], \"sliding_window\""),
           // numbers that families have of their own
           With(kGemma3, "\"sliding_window\": 1024", "\"other\": 1"),
           With(kMixtral, "\"sliding_window\": null", "\"other\": 1"),
           With(kMixtral, "\"num_local_experts\": 8", "\"other\": 1"),
           With(kDeepSeekV3, "\"n_shared_experts\": 1", "\"other\": 1"),
           With(kQwenMoe, "\"shared_expert_intermediate_size\": 5632", "\"other\": 1"),
           With(kLlama4, "\"intermediate_size_mlp\": 16384", "\"other\": 1"),
           With(kLlama3, "\"intermediate_size\": 14336", "\"other\": 1"),
           // numbers that contradict each other
           With(kLlama3, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5"),
           With(kLlama3, "\"num_attention_heads\": 32", "\"num_attention_heads\": 33"),
           With(kMixtral, "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 9"),
           With(kLlama4, "\"no_rope_layers\": []", "\"no_rope_layers\": [0, 1]"),
           // more than a decoder's layers
           With(kGpt2, "\"n_ctx\"", "\"add_cross_attention\": true, \"n_ctx\""),
           With(kGpt2, "\"n_ctx\"", "\"is_encoder_decoder\": true, \"n_ctx\""),
           std::string(R"({"model_type": "opt", "ffn_dim": 4096, "hidden_size": 1024,
             "num_attention_heads": 16, "num_hidden_layers": 24, "vocab_size": 50272,
             "word_embed_proj_dim": 512})"),
       }) {
    EXPECT_FALSE(ParseDecoderConfig(json).ok()) << json;
  }
}

TEST(DecoderConfigTest, NamesTheTypeThatItDoesNotKnow) {
  const auto message = [](const std::string& type) {
    return std::string(
        ParseDecoderConfig(R"({"model_type": ")" + type + R"("})").status().message());
  };
  EXPECT_NE(message("mamba2").find("its model_type, mamba2, is not a decoder known here"),
            std::string::npos);
  EXPECT_EQ(message("qwen3_next\\u001b[2J").find('\x1b'), std::string::npos);
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

TEST(DecoderConfigTest, DeepNestingDoesNotOverflowTheStack) {
  constexpr int kLevels = 200'000;
  const std::string deep = std::string(kLevels, '[') + std::string(kLevels, ']');
  const auto config = ParseDecoderConfig(R"({"text_config": {"model_type": )" + deep + "}}");
  ASSERT_FALSE(config.ok());
  EXPECT_NE(config.status().message().find("nests too deeply"), absl::string_view::npos);
}

TEST(JsonNesting, BracketsInTextsAreNoLevels) {
  const std::string text = R"({"a": "\"[)" + std::string(1000, '{') + R"("})";
  EXPECT_FALSE(NestsTooDeeply(text));
  EXPECT_TRUE(NestsTooDeeply(std::string(kMostJsonLevels + 1, '[')));
  EXPECT_FALSE(NestsTooDeeply(std::string(kMostJsonLevels, '[')));
  std::string beside;
  for (int i = 0; i < 1000; ++i) beside += "[],";
  EXPECT_FALSE(NestsTooDeeply(beside));
}

}  // namespace
}  // namespace utlz
