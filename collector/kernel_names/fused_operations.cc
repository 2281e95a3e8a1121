#include "collector/kernel_names/fused_operations.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace utlz {
namespace {

// Names of operations that have several words. Words that stand before "backward", "forward" or
// "like" need no entry with that word: none of these is an operation.

// Of ATen, prims and Inductor itself, sorted.
constexpr std::string_view kAtenNames[] = {
    "__and__",
    "__lshift__",
    "__or__",
    "__rshift__",
    "__xor__",
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool3d",
    "_assert_async",
    "_assert_scalar",
    "_batch_norm_with_update",
    "_conj_physical",
    "_conv_depthwise2d",
    "_efficient_attention_backward",
    "_efficient_attention_forward",
    "_embedding_bag",
    "_embedding_bag_forward_only",
    "_fake_quantize_learnable_per_tensor_affine",
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
    "_flash_attention_backward",
    "_flash_attention_forward",
    "_foreach_add",
    "_foreach_addcdiv",
    "_foreach_addcmul",
    "_foreach_div",
    "_foreach_lerp",
    "_foreach_mul",
    "_foreach_neg",
    "_foreach_pow",
    "_foreach_reciprocal",
    "_foreach_sqrt",
    "_foreach_sub",
    "_fused_adam",
    "_fused_adamw",
    "_fused_dropout",
    "_fused_rms_norm",
    "_grouped_mm",
    "_index_put_impl",
    "_int_mm",
    "_local_scalar_dense",
    "_log_softmax",
    "_log_softmax_backward_data",
    "_masked_scale",
    "_masked_softmax",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "_prelu_kernel",
    "_reshape_alias",
    "_reshape_copy",
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_fused_attention_overrideable",
    "_scaled_grouped_mm",
    "_scaled_mm",
    "_softmax_backward_data",
    "_to_copy",
    "_unsafe_index",
    "_unsafe_index_put",
    "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate",
    "_unsafe_view",
    "_upsample_bilinear2d_aa",
    "_upsample_nearest_exact2d",
    "_weight_int8pack_mm",
    "_weight_norm",
    "_weight_norm_interface",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "affine_grid_generator",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all_single",
    "as_strided",
    "as_strided_scatter",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "batch_norm_backward_elemt",
    "batch_norm_elemt",
    "batch_norm_gather_stats",
    "batch_norm_stats",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "broadcast_in_dim",
    "broadcast_to",
    "channel_shuffle",
    "clamp_max",
    "clamp_min",
    "constant_pad_nd",
    "conv_transpose2d",
    "convert_element_type",
    "cross_entropy_loss",
    "cudnn_batch_norm",
    "cudnn_convolution",
    "cudnn_convolution_relu",
    "cudnn_grid_sampler",
    "dequantize_per_channel",
    "dequantize_per_tensor",
    "device_put",
    "embedding_bag",
    "embedding_dense_backward",
    "embedding_renorm",
    "empty_strided",
    "fake_quantize_per_channel_affine_cachemask",
    "fake_quantize_per_tensor_affine",
    "feature_dropout",
    "fft_c2c",
    "fft_r2c",
    "fill_diagonal",
    "flex_attention",
    "floor_divide",
    "fractional_max_pool2d",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "group_norm",
    "huber_loss",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "index_select",
    "inductor_lookup_seed",
    "inductor_randint",
    "inductor_random",
    "inductor_seeds",
    "instance_norm",
    "is_nonzero",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "lift_fresh",
    "lift_fresh_copy",
    "linalg_vector_norm",
    "log_sigmoid",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lp_pool2d",
    "margin_ranking_loss",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "max_pool1d",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
    "max_unpool2d",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss_forward",
    "nan_to_num",
    "native_batch_norm",
    "native_dropout",
    "native_group_norm",
    "native_layer_norm",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_zeros",
    "nll_loss",
    "nll_loss2d_backward",
    "nll_loss2d_forward",
    "nll_loss_nd",
    "one_hot",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prepare_softmax_online",
    "quantize_per_channel",
    "quantize_per_tensor",
    "reduce_scatter_tensor",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "repeat_interleave",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "rms_norm",
    "rrelu_with_noise",
    "scalar_tensor",
    "scaled_dot_product_attention",
    "scatter_add",
    "scatter_reduce",
    "select_scatter",
    "slice_scatter",
    "smooth_l1_loss",
    "soft_margin_loss",
    "special_erf",
    "special_erfcx",
    "special_i0",
    "special_log_ndtr",
    "split_with_sizes",
    "split_with_sizes_copy",
    "std_mean",
    "sum_to_size",
    "sym_size",
    "sym_stride",
    "tensor_split",
    "triangular_solve",
    "tril_indices",
    "triu_indices",
    "true_divide",
    "unsafe_chunk",
    "unsafe_split",
    "upsample_bicubic2d",
    "upsample_bilinear2d",
    "upsample_linear1d",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_trilinear3d",
    "value_selecting_reduction_backward",
    "var_mean",
    "view_as_complex",
    "view_as_real",
    "wait_tensor",
    "weight_int4pack_mm",
    "weight_norm",
};

// Of XLA's HLO, sorted.
constexpr std::string_view kHloNames[] = {
    "all_gather",
    "all_reduce",
    "all_to_all",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "bitcast_convert",
    "collective_broadcast",
    "collective_permute",
    "count_leading_zeros",
    "dynamic_reshape",
    "dynamic_slice",
    "dynamic_update_slice",
    "exponential_minus_one",
    "get_dimension_size",
    "is_finite",
    "log_plus_one",
    "reduce_precision",
    "reduce_scatter",
    "reduce_window",
    "rng_bit_generator",
    "rng_get_and_update_state",
    "round_nearest_afz",
    "round_nearest_even",
    "scaled_dot",
    "select_and_scatter",
    "set_dimension_size",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "stochastic_convert",
    "triangular_solve",
};

static_assert(std::is_sorted(std::begin(kAtenNames), std::end(kAtenNames)));
static_assert(std::is_sorted(std::begin(kHloNames), std::end(kHloNames)));

constexpr std::string_view kNeverAlone[] = {"backward", "forward", "like"};
constexpr int kMostWords = 9;     // of a name in a table
constexpr int kMostSuffixes = 2;  // "_3_0d1d2de", "_5_1"

bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }
bool IsLower(char letter) { return letter >= 'a' && letter <= 'z'; }

bool IsIdentifier(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char letter) {
    return IsDigit(letter) || IsLower(letter) || (letter >= 'A' && letter <= 'Z') || letter == '_';
  });
}

bool TakePrefix(std::string_view prefix, std::string_view* text) {
  if (text->substr(0, prefix.size()) != prefix) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Where the word that begins at `begin` ends.
size_t EndOfWord(std::string_view text, size_t begin) {
  return std::min(text.find('_', begin), text.size());
}

// The number that a compiler gives to each kernel, and what Triton 2 adds about its arguments.
// False where there is none.
bool DropSuffixes(std::string_view* text) {
  bool dropped = false;
  for (int i = 0; i < kMostSuffixes; ++i) {
    const size_t last = text->rfind('_');
    const size_t begin = last == std::string_view::npos ? 0 : last + 1;
    if (begin == text->size() || !IsDigit((*text)[begin])) break;
    *text = text->substr(0, last == std::string_view::npos ? 0 : last);
    dropped = true;
  }
  return dropped;
}

// Words between underscores, grouped to operations.
class Words {
 public:
  Words(std::string_view text, std::span<const std::string_view> names)
      : text_(text), names_(names) {}

  bool AtEnd() const { return at_ >= text_.size(); }

  // Empty where a number stands for no operation.
  std::string_view Next() {
    const size_t begin = at_;
    size_t end = EndOfName(begin);
    for (const std::string_view word : kNeverAlone) {
      if (end < text_.size() &&
          text_.substr(end + 1, EndOfWord(text_, end + 1) - end - 1) == word) {
        end += 1 + word.size();
        break;
      }
    }
    at_ = end + 1;
    const std::string_view name = text_.substr(begin, end - begin);
    const bool is_number = std::all_of(
        name.begin(), name.end(), [](char letter) { return IsDigit(letter) || letter == '_'; });
    return is_number ? std::string_view() : name;
  }

 private:
  // Underscores at its beginning belong to it: "_to_copy".
  size_t EndOfName(size_t begin) const {
    const size_t first = std::min(text_.find_first_not_of('_', begin), text_.size());
    size_t end = EndOfWord(text_, first);
    size_t longest = end;
    for (int words = 1; words < kMostWords && end < text_.size(); ++words) {
      end = EndOfWord(text_, end + 1);
      if (std::binary_search(names_.begin(), names_.end(), text_.substr(begin, end - begin))) {
        longest = end;
      }
    }
    return longest;
  }

  std::string_view text_;
  std::span<const std::string_view> names_;
  size_t at_ = 0;
};

std::vector<std::string_view> Split(std::string_view text,
                                    std::span<const std::string_view> names) {
  std::vector<std::string_view> operations;
  for (Words words(text, names); !words.AtEnd() && operations.size() < kMostFusedOperations;) {
    const std::string_view operation = words.Next();
    if (!operation.empty()) operations.push_back(operation);
  }
  return operations;
}

// "triton_", three letters of the kind of loops, "_fused_", operations, a number.
std::vector<std::string_view> OfInductor(std::string_view name) {
  constexpr size_t kLettersOfKind = 3;
  if (!TakePrefix("triton_", &name) || name.size() < kLettersOfKind) return {};
  if (!std::all_of(name.begin(), name.begin() + kLettersOfKind, IsLower)) return {};
  name.remove_prefix(kLettersOfKind);
  if (!TakePrefix("_fused_", &name) || !DropSuffixes(&name)) return {};
  return Split(name, kAtenNames);
}

// "loop_" or "input_", operations, "_fusion"; "wrapped_", an operation; with a number or without.
std::vector<std::string_view> OfXla(std::string_view name) {
  DropSuffixes(&name);
  if (TakePrefix("wrapped_", &name)) {
    const std::vector<std::string_view> one = Split(name, kHloNames);
    return one.size() == 1 ? one : std::vector<std::string_view>();
  }
  if (!TakePrefix("loop_", &name) && !TakePrefix("input_", &name)) return {};
  constexpr std::string_view kEnd = "_fusion";
  if (name.size() < kEnd.size() || name.substr(name.size() - kEnd.size()) != kEnd) return {};
  return Split(name.substr(0, name.size() - kEnd.size()), kHloNames);
}

}  // namespace

std::vector<std::string_view> FusedOperationsOf(std::string_view kernel_name) {
  if (kernel_name.size() > kMaxFusedNameBytes || !IsIdentifier(kernel_name)) return {};
  std::vector<std::string_view> operations = OfInductor(kernel_name);
  return operations.empty() ? OfXla(kernel_name) : operations;
}

std::string FusedOperationsText(std::string_view kernel_name) {
  constexpr std::string_view kBetween = " + ";
  constexpr std::string_view kLeftOut = "…";
  const std::vector<std::string_view> operations = FusedOperationsOf(kernel_name);
  std::string text;
  for (const std::string_view operation : operations) {
    const size_t needed = text.size() + kBetween.size() + operation.size();
    const bool is_full = needed + kBetween.size() + kLeftOut.size() > kMaxFusedOperationsBytes;
    if (!text.empty()) text += kBetween;
    if (is_full) return text.append(kLeftOut);
    text += operation;
  }
  if (operations.size() == kMostFusedOperations) text.append(kBetween).append(kLeftOut);
  return text;
}

}  // namespace utlz
