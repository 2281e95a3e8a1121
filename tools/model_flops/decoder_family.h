// The families of decoders whose FLOPs can be counted, and what a configuration of each leaves
// unsaid.
#ifndef UTLZ_TOOLS_MODEL_FLOPS_DECODER_FAMILY_H_
#define UTLZ_TOOLS_MODEL_FLOPS_DECODER_FAMILY_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace utlz {

// Which layers look back over a window only, where no layer_types list them.
enum class Windows {
  kNone,     // the family has none, whatever is named
  kAll,      // sliding_window, every layer
  kEvery,    // sliding_window, all but every n-th
  kOptIn,    // sliding_window with use_sliding_window, from max_window_layers on
  kListed,   // the same, only as layer_types list them
  kChunked,  // attention_chunk_size, all that no_rope_layers do not name
};

// A row of families.json, where what is not there is as below.
struct Family {
  bool gated_mlp = true;
  Windows windows = Windows::kNone;
  // The name of the size of layers without experts, whose own size is then intermediate_size.
  std::string dense_size;
  // Names that must be there, null or not: where they are missing the family has numbers of its
  // own.
  std::vector<std::string> named;
  nlohmann::json defaults;  // of a configuration, where it does not say
};

// By the model_type of a configuration; nothing where none is known.
std::optional<Family> FamilyOf(const std::string& model_type);

}  // namespace utlz

#endif  // UTLZ_TOOLS_MODEL_FLOPS_DECODER_FAMILY_H_
