"""Kernels whose floating-point work is done outside the tensor cores: saxpy, GELU, norms, softmax, Adam."""

import harness
import torch
from torch.nn import functional


class OrdinaryKernels(harness.Workload):
    """One step launches each kernel once, in fp32 and in bf16."""

    def __init__(self, arguments):
        self.rows, self.width = arguments.rows, arguments.width
        self.inputs = [torch.randn(self.rows, self.width, device="cuda", dtype=dtype)
                       for dtype in (torch.float32, torch.bfloat16)]
        self.others = [torch.randn_like(values) for values in self.inputs]
        self.optimizers = []
        for fused in (True, False):
            parameter = torch.nn.Parameter(torch.randn(self.rows, self.width, device="cuda"))
            parameter.grad = torch.randn_like(parameter)
            self.optimizers.append(torch.optim.Adam([parameter], lr=1e-4, fused=fused,
                                                    foreach=not fused))

    @torch.no_grad()
    def step(self):
        for values, other in zip(self.inputs, self.others):
            torch.add(values, other, alpha=1.5)
            functional.gelu(values)
            functional.gelu(values, approximate="tanh")
            functional.silu(values)
            functional.layer_norm(values, (self.width,))
            functional.rms_norm(values, (self.width,))
            functional.softmax(values, -1)
            functional.softmax(values.view(-1, 128), -1)
            values.sum(-1)
            torch.addcmul(values, values, other)
        for optimizer in self.optimizers:
            optimizer.step()

    def expected(self, steps):
        elements = self.rows * self.width
        return {"elements": elements, "saxpy_flops": 2 * elements}


def add_arguments(parser):
    parser.add_argument("--rows", type=int, default=8192)
    parser.add_argument("--width", type=int, default=4096)


if __name__ == "__main__":
    harness.run("ordinary_kernels", harness.parse_arguments(__doc__, add_arguments, steps=200),
                OrdinaryKernels)
