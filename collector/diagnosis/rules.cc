#include "collector/diagnosis/rules.h"

#include "collector/text/number_text.h"

namespace utlz {
namespace {

constexpr Rule kRules[] = {
    {"memory_leak", 0.50, ObserveLeak, "GPU memory grows from step to step (a leak is suspected)",
     "GPU memory grows: a leak?",
     "keep no tensor that holds its graph: loss.item() or loss.detach() before summing losses up; "
     "empty lists and caches; torch.cuda.memory._record_memory_history() says who allocates",
     "total_loss += loss.detach()", true},
    {"lagging_rank", 0.05, ObserveLaggingRank, "One process makes the others wait",
     "One process makes the others wait",
     "look at that rank's host and GPU: clocks, other jobs, NUMA placement, its share of the data; "
     "balance sequence lengths between ranks",
     "nvidia-smi -q -d PERFORMANCE,CLOCK; numactl -s"},
    {"uneven_batches", 0.10, ObserveUnevenBatches,
     "Batches are uneven: processes wait for each other by turns",
     "Uneven batches: ranks wait for each other by turns",
     "give each rank the same number of tokens, not of sequences: sort by length, or pack",
     "a batch sampler by token count, the same on all ranks"},
    {"small_batch", 0.25, ObserveSmallBatch, "The batch is too small to fill the GPU",
     "Too little work a launch: larger batch",
     "larger batches (or gradient accumulation over fewer, larger ones), several requests at once, "
     "several streams; or a smaller GPU, or a share of one (MIG)",
     "DataLoader(..., batch_size=4 * batch_size)  # JAX: batch_size = 4 * batch_size"},
    {"launch_bound", 0.15, ObserveLaunchGaps,
     "The GPU waits for the host between kernels (launch-bound)",
     "Launch-bound: CUDA graphs or torch.compile",
     "CUDA graphs (torch.compile with mode=\"reduce-overhead\", torch.cuda.graph), a static cache "
     "for generation, larger batches, fused operators; in JAX put the loop under jax.jit",
     "model = torch.compile(model, mode=\"reduce-overhead\")  # JAX: step = jax.jit(step)"},
    {"synchronization", 0.05, ObserveReadbacks, "The program waits for results that it reads back",
     "Readbacks stop the GPU: no .item() in the loop",
     "keep values on the GPU: no .item(), .cpu() or print of a tensor in the loop; read back "
     "seldom, or with non_blocking=True and later; save checkpoints beside the next steps",
     "torch.cuda.set_sync_debug_mode(\"warn\")  # JAX: "
     "with jax.transfer_guard_device_to_host(\"log\"):"},
    {"input_pipeline", 0.05, ObserveLateInput, "The input comes too late",
     "Input comes too late: more loader workers",
     "more data loader workers, prefetching, pinned memory, decoding on the GPU; check the storage",
     "DataLoader(..., num_workers=8, pin_memory=True, prefetch_factor=4)"},
    {"gaps_between_steps", 0.10, ObserveGapsBetweenSteps, "The GPU stands idle between steps",
     "GPU idle between steps: do not wait for each step",
     "let the host run ahead: no block_until_ready(), loss.item() or logging after each step; in "
     "JAX donate the state's buffers, for no step to wait for the last one's to be copied",
     "if i % 100 == 0: print(loss.item())  # JAX: step = jax.jit(step, donate_argnums=(0,))"},
    {"first_calls", 0.15, ObserveFirstCalls,
     "New shapes stop the GPU: something is prepared when a kernel runs for the first time",
     "First calls wait: plans or compiling for new shapes",
     "pad to few lengths (buckets), warm all shapes up first, use a static cache for generation, "
     "keep compiled programs (a compilation cache)",
     "model.generation_config.cache_implementation = \"static\""},
    {"host_work", 0.10, ObserveHostWork, "The GPU is idle while the CPU is busy inside steps",
     "GPU idle while the CPU is busy inside steps",
     "find what it does there (--idle-stacks; in C++ py-spy): data preparation, logging, "
     "checkpoints, garbage collection, Python between launches",
     "utlz run --stacks=auto --idle-stacks -- python train.py"},
    {"pageable_copies", 0.03, ObservePageableCopies, "Copies use pageable host memory",
     "Copies of pageable memory: pin it",
     "pin_memory=True in the data loader and non_blocking=True in .to(): pinned copies are faster "
     "and run beside kernels",
     "DataLoader(..., pin_memory=True); x.to(device, non_blocking=True)"},
    {"exposed_copies", 0.05, ObserveExposedCopies, "Copies between host and device run alone",
     "Copies run alone: overlap or avoid them",
     "copy on another stream while kernels run; copy less: keep data on the GPU, smaller types, "
     "donated buffers in JAX",
     "x.to(device, non_blocking=True)  # JAX: x = jax.device_put(next_batch)  # ahead of its step"},
    {"peer_copies", 0.05, ObservePeerCopies, "Copies between GPUs run alone",
     "Copies between GPUs run alone: one process a GPU",
     "one process a GPU, with DistributedDataParallel: DataParallel copies the weights to each GPU "
     "in every step, and the gradients back; in programs of your own copy on another stream while "
     "kernels run",
     "torchrun --nproc_per_node=gpu train.py"},
    {"exposed_communication", 0.10, ObserveExposedCommunication,
     "Communication is not hidden behind computation", "Communication is not hidden: overlap it",
     "overlap it (bucketed all-reduce, FSDP prefetch), larger batches or gradient accumulation, "
     "faster links; look for a rank that lags",
     "DistributedDataParallel(model, bucket_cap_mb=100, gradient_as_bucket_view=True)"},
    {"slow_normalization", 0.15, ObserveSlowNormalization,
     "Normalization kernels are far below the memory's rate", "Slow normalization: fuse it",
     "fuse normalization with what stands around it (torch.compile, Apex's or cuDNN's fused "
     "norms); for batch norm compare channels_last with contiguous memory",
     "model = torch.compile(model)  # JAX: step = jax.jit(step)"},
    {"slow_pooling", 0.15, ObserveSlowPooling, "Pooling kernels are far below the memory's rate",
     "Slow pooling: another layout, or a strided convolution",
     "compare channels_last with contiguous memory; windows that do not overlap, or a strided "
     "convolution instead",
     "model = torch.compile(model)  # JAX: step = jax.jit(step)"},
    {"slow_matrix", 0.15, ObserveSlowMatrix, "Matrix products are below what such products reach",
     "Slow matrix products: shapes, layout, tuning",
     "sizes that are multiples of 64 or 128, contiguous operands, larger products instead of many; "
     "let the library choose among its kernels; attention by FlashAttention",
     "torch.backends.cudnn.benchmark = True  # or torch.compile(mode=\"max-autotune\")"},
    {"slow_streaming", 0.15, ObserveSlowStreaming,
     "Kernels that stream bytes are below the memory's rate",
     "Streaming kernels below 85-92 % of bandwidth",
     "of a framework's kernels: let a compiler write others, and hand over larger tensors; in "
     "kernels of your own several elements a thread, 16-byte loads (float4), neighbours in "
     "neighbouring threads",
     "torch.compile(model, mode=\"max-autotune\")  # own CUDA kernels: 16-byte loads (float4)"},
    {"unfused_elementwise", 0.20, ObserveElementwise, "Unfused elementwise kernels (memory-bound)",
     "Unfused elementwise kernels: fuse them",
     "fuse them: torch.compile, fused optimizers and norms, FlashAttention instead of softmax",
     "model = torch.compile(model)  # JAX: step = jax.jit(step)", false, true},
    {"eager_beside_compiled", 0.20, ObserveEagerBesideCompiled,
     "Elementwise kernels outside of the compiled code (memory-bound)",
     "Kernels outside of compiled code: move them in",
     "compile the loss and whatever else runs in each step together with the model; in JAX put the "
     "whole step under one jax.jit; look for graph breaks",
     "step = torch.compile(lambda x, y: loss(model(x), y))  # TORCH_LOGS=graph_breaks", false,
     true},
    {"padded_tiles", 0.15, ObservePaddedTiles,
     "Products of a few rows fill tiles of eight: most of their FLOPs are padding",
     "Products of few rows: a batch would cost the same",
     "batch what runs row by row: more requests at once, larger batches, products joined into one",
     "model.generate(**tokenizer(prompts, padding=True))  # 8 prompts at once", false, true},
    {"padding", 0.15, ObservePadding, "More FLOPs are executed than the model needs",
     "Padding: FLOPs that the model does not need",
     "sort sequences by length, pack them, or unpad (variable-length attention); if activations "
     "are checkpointed, checkpoint fewer",
     "DataCollatorWithFlattening()", false, true},
    {"bandwidth_bound_matrix", 0.30, ObserveWeights,
     "Matrix products are bound by reading weights, not by arithmetic",
     "Reading weights: larger batch or quantized weights",
     "larger batches share the reading; in inference quantized weights (FP8, INT8, 4 bit) shorten "
     "it: vllm serve MODEL --quantization fp8",
     "DataLoader(..., batch_size=4 * batch_size)  # or FP8 weights"
     "  # JAX: batch_size = 4 * batch_size",
     false, true},
    {"memory_bound_products", 0.30, ObserveProductsInAndOut,
     "Matrix products are limited by memory: by what goes in and out of them",
     "Products limited by memory: fuse, or narrower types",
     "fuse what follows a product into it (bias, activation, residual; attention by "
     "FlashAttention), and keep its inputs and outputs in lower precision",
     "model = torch.compile(model, mode=\"max-autotune\")  # JAX: step = jax.jit(step)", false,
     true},
    {"latency_bound_kernels", 0.20, ObserveLatency,
     "Kernels use less than a quarter of either roof (latency-bound)",
     "Kernels far below both roofs: fuse or batch",
     "larger batches, fused or batched operators, several streams; or a smaller GPU",
     "model = torch.compile(model)  # JAX: step = jax.jit(step)"},
    {"single_precision", 0.10, ObserveSinglePrecision,
     "Matrix products run in FP32 without tensor cores", "FP32 without tensor cores: TF32 or bf16",
     "torch.set_float32_matmul_precision(\"high\") (TF32), or bf16 by autocast",
     "torch.set_float32_matmul_precision(\"high\")"},
    {"thermal_throttling", 0.03, ObserveHeat, "Heat holds the clock down",
     "Heat holds the clock down", "check cooling, airflow and neighbours",
     "nvidia-smi -q -d PERFORMANCE", false, true},
    {"one_slow_kernel", 0.15, ObserveOneSlowKernel, "One kernel is far below its roof",
     "One kernel is far below its roof",
     "look for a better implementation or shape of this kernel (library version, alignment, "
     "layout, tile sizes)",
     "ncu --set full --kernel-name NAME"},
};

}  // namespace

std::string ShareOfTime(double time_ns, const FindingFacts& facts) {
  return PercentText(time_ns / facts.window_ns) + " of the time";
}

std::span<const Rule> Rules() { return kRules; }

}  // namespace utlz
