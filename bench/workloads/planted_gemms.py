"""Matrix products of known size in six data types: FLOPs are 2·M·N·K by construction."""

import harness
import torch

FLOAT8 = torch.float8_e4m3fn
DATA_TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32,
              "fp8": FLOAT8, "fp32": torch.float32, "fp64": torch.float64}


def make_product(data_type, m, n, k):
    """Returns a function that launches one product of that type."""
    dtype = DATA_TYPES[data_type]
    if data_type == "fp8":
        # The only layout that cuBLASLt takes: row-major times column-major.
        left = torch.randn(m, k, device="cuda").to(FLOAT8)
        right = torch.randn(n, k, device="cuda").to(FLOAT8).t()
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(left, right, scale_a=one, scale_b=one,
                                        out_dtype=torch.bfloat16)
    left = torch.randn(m, k, device="cuda", dtype=dtype)
    right = torch.randn(k, n, device="cuda", dtype=dtype)
    product = torch.empty(m, n, device="cuda", dtype=dtype)

    def multiply():
        torch.set_float32_matmul_precision("high" if data_type == "tf32" else "highest")
        torch.mm(left, right, out=product)
    return multiply


class PlantedGemms(harness.Workload):
    """One step: every data type in turn, each product launched `repetitions` times."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.products = {data_type: make_product(data_type, arguments.m, arguments.n, arguments.k)
                         for data_type in arguments.data_types}

    def step(self):
        for product in self.products.values():
            for _ in range(self.arguments.repetitions):
                product()

    def expected(self, steps):
        arguments = self.arguments
        flops = 2 * arguments.m * arguments.n * arguments.k
        launches = steps * arguments.repetitions
        return {"m_n_k": [arguments.m, arguments.n, arguments.k], "flops_per_launch": flops,
                "launches_by_type": {name: launches for name in self.products},
                "flops_by_type": {name: launches * flops for name in self.products}}


def add_arguments(parser):
    parser.add_argument("--m", type=int, default=4096)
    parser.add_argument("--n", type=int, default=4096)
    parser.add_argument("--k", type=int, default=4096)
    parser.add_argument("--repetitions", type=int, default=20, help="products a step and data type")
    parser.add_argument("--data-types", nargs="+", choices=DATA_TYPES, default=list(DATA_TYPES))


if __name__ == "__main__":
    harness.run("planted_gemms", harness.parse_arguments(__doc__, add_arguments, steps=5, warmup=1),
                PlantedGemms)
