#include "bench/diagnosis/causes.h"

#include "bench/diagnosis/everyday_drafts.h"
#include "bench/diagnosis/kernel_causes.h"
#include "bench/diagnosis/program_causes.h"
#include "bench/diagnosis/program_drafts.h"
#include "bench/diagnosis/sharded_drafts.h"
#include "bench/diagnosis/wait_causes.h"

namespace utlz {
namespace {

// Memory grows by `bytes` over the run.
void PlantLeak(double bytes, Draft* draft) { draft->run.ranks.front().memory_growth_bytes = bytes; }

constexpr const char* kOfTime = "of the steps' time";
constexpr const char* kRule = "docs/reference/findings.md";
constexpr const char* kNew = "no rule yet: 15 % of the time";

}  // namespace

const std::vector<const char*>& HealthyLoads() {
  static const auto* const kLoads = [] {
    auto* loads = new std::vector<const char*>{
        "training",   "streaming",  "decode",     "convolutions", "short", "two_ranks",
        "four_ranks", "new_shapes", "generation", "loop",         "mixed"};
    for (const auto* more : {&EverydayLoads(), &ProgramLoads(), &ShardedLoads()}) {
      loads->insert(loads->end(), more->begin(), more->end());
    }
    return loads;
  }();
  return *kLoads;
}

const std::vector<Cause>& Causes() {
  static const auto* const kCauses = new std::vector<Cause>{
      {"launch_bound", "training", 0.15, kOfTime, kRule, PlantLaunchGaps},
      {"input_pipeline", "training", 0.05, kOfTime, kRule, PlantLateInput},
      {"synchronization", "training", 0.05, kOfTime, kRule, PlantReadbacks},
      {"pageable_copies", "training", 0.03, kOfTime, kRule, PlantPageableCopies},
      {"exposed_copies", "training", 0.05, kOfTime, kRule, PlantExposedCopies},
      {"exposed_communication", "two_ranks", 0.10, kOfTime, kRule, PlantExposedCommunication},
      {"lagging_rank", "two_ranks", 0.05, kOfTime, kRule, PlantStraggler},
      {"uneven_batches", "two_ranks", 0.10, kOfTime, "exposed_communication's", PlantUnevenBatches},
      {"slow_normalization", "training", 0.15, kOfTime, kNew, PlantSlowNormalization},
      {"slow_pooling", "convolutions", 0.15, kOfTime, kNew, PlantSlowPooling},
      {"slow_matrix", "training", 0.15, kOfTime, kNew, PlantSlowMatrix},
      {"small_batch", "training", 0.25, kOfTime, kRule, PlantSmallGrids},
      {"latency_bound_kernels", "training", 0.20, kOfTime, kRule, PlantLatency},
      {"padding", "training", 0.15, kOfTime, kNew, PlantPadding},
      {"padded_tiles", "training", 0.15, kOfTime, kNew, PlantPaddedTiles, true},
      {"unfused_elementwise", "training", 0.20, kOfTime, kRule, PlantElementwise},
      {"thermal_throttling", "training", 0.03, kOfTime, kRule, PlantHeat},
      {"memory_leak", "training", 300e6, "bytes", "0.2 % of the GPU's memory", PlantLeak},
      {"first_calls", "new_shapes", 0.15, kOfTime, kNew, PlantFirstCalls},
      {"one_slow_kernel", "training", 0.15, kOfTime, kRule, PlantOneSlowKernel},
      {"gaps_between_steps", "training", 0.10, kOfTime, "host_work's", PlantGapsBetweenSteps},
      {"host_work", "training", 0.10, kOfTime, kRule, PlantGapsInside},
      {"generation_launch_bound", "generation", 0.15, kOfTime, kRule, PlantLaunchGaps},
      {"rare_stalls", "training", 0.05, kOfTime, "input_pipeline's", PlantRareStalls},
      {"checkpoints", "training", 0.05, kOfTime, "exposed_copies'", PlantCheckpoints},
      {"tiny_kernels", "training", 0.15, kOfTime, "launch_bound's", PlantTinyKernels},
      {"lagging_of_four", "four_ranks", 0.05, kOfTime, "lagging_rank's", PlantStraggler},
      {"bursts_launch_bound", "bursts", 0.15, kOfTime, "launch_bound's", PlantLaunchGaps},
      {"two_networks_host_work", "two_networks", 0.10, kOfTime, "host_work's", PlantGapsInside},
      {"lengths_input", "lengths", 0.05, kOfTime, "input_pipeline's", PlantLateInput},
      {"accumulation_input", "accumulation", 0.05, kOfTime, "input_pipeline's", PlantLateInput},
      {"slow_loop", "loop", 0.15, kOfTime, "one_slow_kernel's", PlantSlowLoop},
      {"image_saving", "diffusion", 0.05, kOfTime, "synchronization's", PlantImageSaving},
      {"single_precision", "training", 0.10, kOfTime, kRule, PlantSinglePrecision},
      {"clipped_gradients", "training", 0.05, kOfTime, "synchronization's", PlantClippedGradients},
      {"weight_averaging", "training", 0.15, kOfTime, "launch_bound's", PlantWeightAveraging},
      {"growing_host_work", "training", 0.10, kOfTime, "host_work's", PlantGrowingHostWork},
      {"pipeline_bubbles", "pipeline", 0.10, kOfTime, "exposed_communication's",
       PlantPipelineBubbles},
      {"late_gathers", "prefetched_shards", 0.10, kOfTime, "exposed_communication's",
       PlantLateGathers},
      {"peer_copies", "data_parallel", 0.05, kOfTime, "exposed_copies'", PlantPeerCopies},
  };
  return *kCauses;
}

}  // namespace utlz
