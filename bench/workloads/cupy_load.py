"""CuPy: a raw kernel of ours, launched a known number of times, beside library calls."""

import argparse
import json
import os

import cupy

SOURCE = r"""
extern "C" __global__ void utlz_cupy_scale(float* data, float factor, unsigned long long count) {
  const unsigned long long index = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  if (index < count) data[index] *= factor;
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--mebibytes", type=int, default=512)
    parser.add_argument("--size", type=int, default=2048, help="of the square matrices")
    parser.add_argument("--expect", action="store_true")
    arguments = parser.parse_args()
    scale = cupy.RawKernel(SOURCE, "utlz_cupy_scale")
    count = (arguments.mebibytes << 20) // 4
    data = cupy.ones(count, dtype=cupy.float32)
    left = cupy.random.default_rng(1).random((arguments.size, arguments.size), dtype=cupy.float32)
    blocks = (count + 255) // 256
    for _ in range(arguments.steps):
        scale((blocks,), (256,), (data, cupy.float32(1.0), cupy.uint64(count)))
        product = left @ left
    cupy.cuda.Device().synchronize()
    result = {"workload": "cupy_load", "pid": os.getpid(), "cupy": cupy.__version__,
              "output": {"data": float(data[0]), "corner": round(float(product[0, 0]), 1)}}
    if arguments.expect:
        moved = arguments.steps * count * 4
        result["expected"] = {"kernels": {"utlz_cupy_scale": {
            "launches": arguments.steps, "dram_read_bytes": moved, "dram_write_bytes": moved}},
            "gemms": arguments.steps, "flops_per_gemm": 2 * arguments.size**3}
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
