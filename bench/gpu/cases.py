"""What is validated on a real GPU: workloads, how each is counted, and what else is known of it."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    script: str
    arguments: tuple = ()
    environment: tuple = ()        # of (name, value)
    count: bool = True             # can count its own launches through torch.profiler
    # Run once beforehand, unprofiled: fills caches whose filling launches kernels of its own.
    prepare: bool = False
    # Arguments for Nsight Compute's run, which replays every kernel; empty: no such run.
    compute_arguments: tuple = ()


CASES = (
    Case("train", "gpt_train.py", ("--steps", "100", "--expect"),
         compute_arguments=("--steps", "1", "--warmup", "1", "--mark-last-step")),
    Case("train-compiled", "gpt_train.py", ("--steps", "100", "--compile"), prepare=True),
    Case("decode-eager", "gpt_decode.py", ("--steps", "1000"),
         compute_arguments=("--steps", "1", "--warmup", "1", "--mark-last-step")),
    Case("decode-graph", "gpt_decode.py", ("--steps", "1500", "--mode", "graph")),
    Case("transformers", "transformers_generate.py"),
    Case("server-spawn", "server_spawn.py"),
    Case("torchrun", "torchrun_two_ranks.py"),
    Case("jax", "jax_train.py", ("--steps", "300", "--expect"), count=False),
    Case("jax-no-command-buffers", "jax_train.py",
         ("--steps", "300", "--expect", "--no-command-buffers"), count=False),
    Case("cupy", "cupy_load.py", ("--steps", "4000", "--expect"), count=False),
    Case("triton", "triton_load.py", ("--steps", "250", "--expect")),
    Case("cuda-static", "cuda_static.cu", ("4000", "1024", "400"), count=False),
    Case("gemms", "planted_gemms.py", ("--steps", "20", "--expect"),
         compute_arguments=("--steps", "1", "--warmup", "1", "--repetitions", "1",
                            "--mark-last-step")),
    Case("copies", "planted_copies.py", ("--steps", "10", "--expect")),
    # Where copies between host and device take nearly all of the time, few samples meet kernels.
    Case("copies-on-device", "planted_copies.py",
         ("--steps", "60", "--expect", "--operations", "copy_device_to_device",
          "kernel_read_write", "kernel_write", "set")),
    Case("torch-profiler", "torch_profiler_schedule.py", count=False),
    Case("torch-profiler-teardown", "torch_profiler_schedule.py", count=False,
         environment=(("TEARDOWN_CUPTI", "1"),)),
)
