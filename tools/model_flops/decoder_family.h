// The families of decoders whose FLOPs can be counted, and what a configuration of each leaves
// unsaid.
#ifndef UTLZ_TOOLS_MODEL_FLOPS_DECODER_FAMILY_H_
#define UTLZ_TOOLS_MODEL_FLOPS_DECODER_FAMILY_H_

#include <cstdint>
#include <string>

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

struct Family {
  const char* model_type;
  bool gated_mlp;
  bool tied_embeddings;  // where it does not say
  Windows windows = Windows::kNone;
  uint64_t full_every = 0;  // n of Windows::kEvery
  // Names that must be there, null or not: where they are missing the family has numbers of its
  // own.
  const char* named = "";
};

// By the model_type of a configuration; null where none is known.
const Family* FamilyOf(const std::string& model_type);

}  // namespace utlz

#endif  // UTLZ_TOOLS_MODEL_FLOPS_DECODER_FAMILY_H_
