"""Trains a small network with JAX under jit; with --command-buffers, through CUDA graphs.

Loops inside jit and command buffers make XLA launch graphs of its own.
"""

import argparse
import json
import os
import statistics
import time


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--command-buffers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--expect", action="store_true")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    kinds = "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL" if arguments.command_buffers else ""
    # XLA reads its flags once, when JAX is imported.
    os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "")
                               + f" --xla_gpu_enable_command_buffer={kinds}")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(1), arguments.layers + 1)
    scale = arguments.width**-0.5
    weights = [scale * jax.random.normal(key, (arguments.width, arguments.width), jnp.bfloat16)
               for key in keys[1:]]
    inputs = jax.random.normal(keys[0], (arguments.batch, arguments.width), jnp.bfloat16)

    def loss_of(parameters, x):
        for weight in parameters:
            x = jax.nn.gelu(x @ weight)
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    @jax.jit
    def step(parameters, x):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x)
        return loss, [p - 1e-3 * g for p, g in zip(parameters, gradients)]

    durations_ms = []
    for index in range(arguments.warmup + arguments.steps):
        begin = time.perf_counter()
        loss, weights = step(weights, inputs)
        loss.block_until_ready()
        if index >= arguments.warmup:
            durations_ms.append((time.perf_counter() - begin) * 1e3)
    result = {"workload": "jax_train", "pid": os.getpid(), "jax": jax.__version__,
              "steps": arguments.steps, "step_ms_median": round(statistics.median(durations_ms), 4),
              "step_ms": [round(value, 4) for value in durations_ms],
              "output": {"loss": round(float(loss), 4)}}
    if arguments.expect:
        # Forward, and backward to weights and inputs; the first layer's inputs need no gradient.
        products = 3 * arguments.layers - 1
        flops = 2 * arguments.batch * arguments.width**2 * products
        result["expected"] = {"gemm_flops_per_step": flops, "gemms_per_step": products,
                              "steps": arguments.warmup + arguments.steps}
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
