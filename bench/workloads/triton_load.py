"""Kernels written in Triton, which brings a CUPTI of its own (12.x) beside PyTorch's (13.x)."""

import harness
import torch
import triton
import triton.language as tl


@triton.jit
def utlz_triton_add(left, right, out, count, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < count
    total = tl.load(left + offsets, mask=mask) + tl.load(right + offsets, mask=mask)
    tl.store(out + offsets, total, mask=mask)


@triton.jit
def utlz_triton_matmul(left, right, out, size, tile: tl.constexpr, depth: tl.constexpr):
    rows = tl.program_id(0) * tile + tl.arange(0, tile)
    columns = tl.program_id(1) * tile + tl.arange(0, tile)
    inner = tl.arange(0, depth)
    total = tl.zeros((tile, tile), dtype=tl.float32)
    for begin in range(0, size, depth):
        a = tl.load(left + rows[:, None] * size + (begin + inner)[None, :])
        b = tl.load(right + (begin + inner)[:, None] * size + columns[None, :])
        total = tl.dot(a, b, total)
    tl.store(out + rows[:, None] * size + columns[None, :], total.to(tl.bfloat16))


class TritonLoad(harness.Workload):
    """One step: `repetitions` additions and as many products, both of known size."""

    BLOCK = 1024
    TILE = 128

    def __init__(self, arguments):
        self.repetitions = arguments.repetitions
        self.count = (arguments.mebibytes << 20) // 4
        self.size = arguments.size
        self.vectors = [torch.ones(self.count, device="cuda") for _ in range(3)]
        self.matrices = [torch.randn(self.size, self.size, device="cuda", dtype=torch.bfloat16)
                         for _ in range(3)]

    def step(self):
        tiles = self.size // self.TILE
        for _ in range(self.repetitions):
            utlz_triton_add[(triton.cdiv(self.count, self.BLOCK),)](
                *self.vectors, self.count, block=self.BLOCK)
            utlz_triton_matmul[(tiles, tiles)](
                *self.matrices, self.size, tile=self.TILE, depth=64, num_warps=8)

    def output(self):
        return {"sum": self.vectors[2][0].item()}

    def expected(self, steps):
        launches = steps * self.repetitions
        return {"kernels": {
            "utlz_triton_add": {"launches": launches, "dram_read_bytes": launches * self.count * 8,
                                "dram_write_bytes": launches * self.count * 4},
            "utlz_triton_matmul": {"launches": launches, "flops": launches * 2 * self.size**3}}}


def add_arguments(parser):
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--mebibytes", type=int, default=512)
    parser.add_argument("--size", type=int, default=4096)


if __name__ == "__main__":
    harness.run("triton_load", harness.parse_arguments(__doc__, add_arguments, steps=5, warmup=1),
                TritonLoad)
