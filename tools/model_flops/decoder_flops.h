// How many FLOPs a decoder needs for its own arithmetic: its matrices, and attention's scores and
// weighted values. A fused multiply-add is two. Norms, activations, rotary positions and the
// optimizer are left out (they are no matrix products), and so is everything computed twice.
#ifndef UTLZ_TOOLS_MODEL_FLOPS_DECODER_FLOPS_H_
#define UTLZ_TOOLS_MODEL_FLOPS_DECODER_FLOPS_H_

#include "proto/profile.pb.h"
#include "tools/model_flops/decoder_config.h"

namespace utlz {

enum class ModelPass {
  kTraining,  // forward, and backward at twice its cost
  kPrefill,   // forward over whole sequences
  kDecode,    // forward of one new token of each sequence
};

// Attention's quadratic term: what a causal mask leaves of it, all of it, or nothing.
enum class AttentionTerm { kCausal, kFull, kLeftOut };

struct ModelStep {
  double batch_size = 0;  // sequences, of all devices together
  double sequence_length =
      0;              // in decoding: positions that the new token looks at, itself included
  double tokens = 0;  // of them without padding; 0: all
  ModelPass pass = ModelPass::kTraining;
  AttentionTerm attention = AttentionTerm::kCausal;
};

// Weights of matrices and embeddings; norms and biases are left out.
double CountParameters(const DecoderConfig& config);
// Those that one token uses: the experts that are not chosen for it left out.
double CountActiveParameters(const DecoderConfig& config);

// Forward, of the matrices alone.
double CountMatrixFlopsPerToken(const DecoderConfig& config);
// Forward, of one sequence.
double CountAttentionFlops(const DecoderConfig& config, const ModelStep& step);

// All of a step, with the sentence that says how it was counted.
WorkloadSpec CountWorkloadSpec(const DecoderConfig& config, const ModelStep& step);

}  // namespace utlz

#endif  // UTLZ_TOOLS_MODEL_FLOPS_DECODER_FLOPS_H_
