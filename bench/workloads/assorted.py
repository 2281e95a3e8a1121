"""Loads of other kinds than language models, each by its name: what kernels there are besides GEMMs."""

import harness
import torch
from torch import nn
from torch.nn import functional


class Convolution(harness.Workload):
    """Trains a small residual network: fp16 autocast, channels last, batch norm, SGD."""

    def __init__(self, _):
        stages, channels = [], 64
        for width in (64, 128, 256):
            stages += [self._block(channels, width), self._block(width, width), nn.MaxPool2d(2)]
            channels = width
        self.model = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), *stages,
                                   nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 1000))
        self.model = self.model.cuda().to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)
        images = torch.randn(64, 3, 224, 224, device="cuda")
        self.images = images.contiguous(memory_format=torch.channels_last)
        self.labels = torch.randint(1000, (64,), device="cuda")

    @staticmethod
    def _block(channels, width):
        return nn.Sequential(nn.Conv2d(channels, width, 3, padding=1, bias=False),
                             nn.BatchNorm2d(width), nn.ReLU())

    def step(self):
        with torch.autocast("cuda", torch.float16):
            loss = functional.cross_entropy(self.model(self.images), self.labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


class Experts(harness.Workload):
    """A mixture of eight experts, two a token: every product has a size of its own."""

    EXPERTS, WIDTH, TOKENS = 8, 2048, 8192

    def __init__(self, _):
        def weights(*shape):
            return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) * shape[-2] ** -0.5
        self.router = weights(self.WIDTH, self.EXPERTS)
        self.up = weights(self.EXPERTS, self.WIDTH, 2 * self.WIDTH)
        self.down = weights(self.EXPERTS, 2 * self.WIDTH, self.WIDTH)
        self.tokens = weights(self.TOKENS, self.WIDTH)

    @torch.no_grad()
    def step(self):
        gates, chosen = (self.tokens @ self.router).softmax(-1).topk(2)
        result = torch.zeros_like(self.tokens)
        for expert in range(self.EXPERTS):
            rows, slot = (chosen == expert).nonzero(as_tuple=True)
            hidden = functional.silu(self.tokens[rows] @ self.up[expert])
            scaled = (hidden @ self.down[expert]) * gates[rows, slot, None]
            result.index_add_(0, rows, scaled)
        functional.layer_norm(self.tokens + result, (self.WIDTH,))


class Recurrent(harness.Workload):
    """Two LSTM layers of cuDNN's, fp16, inference."""

    def __init__(self, _):
        self.model = nn.LSTM(1024, 1024, num_layers=2).cuda().half().eval()
        self.inputs = torch.randn(32, 128, 1024, device="cuda", dtype=torch.float16)

    @torch.no_grad()
    def step(self):
        self.model(self.inputs)


class Spectral(harness.Workload):
    """Convolves fields by Fourier transforms, in fp32 and fp64."""

    def __init__(self, _):
        self.fields = [torch.randn(16, 1024, 1024, device="cuda", dtype=dtype)
                       for dtype in (torch.float32, torch.float64)]
        self.filters = [torch.fft.rfft2(torch.randn_like(field[0])) for field in self.fields]

    def step(self):
        for field, response in zip(self.fields, self.filters):
            torch.fft.irfft2(torch.fft.rfft2(field) * response)


class Integers(harness.Workload):
    """8-bit integer products, sorting, sums by index: no floating-point operation counts."""

    def __init__(self, _):
        self.left, self.right = (torch.randint(-9, 9, (4096, 4096), device="cuda",
                                               dtype=torch.int8) for _ in range(2))
        self.keys = torch.randint(1 << 30, (1 << 24,), device="cuda", dtype=torch.int32)
        self.bins = torch.zeros(1 << 20, device="cuda", dtype=torch.int32)

    def step(self):
        for _ in range(8):
            torch._int_mm(self.left, self.right)
        torch.sort(self.keys)
        torch.cumsum(self.keys, 0)
        self.bins.index_add_(0, (self.keys & ((1 << 20) - 1)).long(), self.keys)


class Streams(harness.Workload):
    """Products on one stream beside elementwise work on another."""

    def __init__(self, _):
        self.left, self.right, self.product = (
            torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        self.values = torch.randn(1 << 26, device="cuda")
        self.side = torch.cuda.Stream()

    def step(self):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            for _ in range(4):
                self.values.mul_(1.0001)
        for _ in range(24):
            torch.mm(self.left, self.right, out=self.product)
        torch.cuda.current_stream().wait_stream(self.side)


class Ragged(harness.Workload):
    """Attention and a projection over batches of one length after another."""

    LENGTHS = (128, 1024, 384, 2048, 640, 1536, 256)

    def __init__(self, _):
        self.weights = torch.randn(1024, 3 * 1024, device="cuda", dtype=torch.bfloat16) * 0.03
        self.inputs = {length: torch.randn(8, length, 1024, device="cuda", dtype=torch.bfloat16)
                       for length in self.LENGTHS}

    @torch.no_grad()
    def step(self):
        for length in self.LENGTHS:
            projected = self.inputs[length] @ self.weights
            query, key, value = projected.view(8, length, 3, 16, 64).permute(2, 0, 3, 1, 4)
            functional.scaled_dot_product_attention(query, key, value, is_causal=True)


class Halves(harness.Workload):
    """Elementwise arithmetic in 16 bits, far from any tensor core."""

    def __init__(self, _):
        self.arrays = [[torch.randn(1 << 25, device="cuda", dtype=dtype) for _ in range(3)]
                       for dtype in (torch.bfloat16, torch.float16)]
        self.compiled = torch.compile(lambda a, b, c: torch.tanh(a * b + c) * b)

    @torch.no_grad()
    def step(self):
        for first, second, third in self.arrays:
            functional.gelu(first)
            torch.addcmul(first, second, third)
            torch.tanh(second)
            first.float().bfloat16()
            self.compiled(first, second, third)


LOADS = {load.__name__.lower(): load for load in (
    Convolution, Experts, Recurrent, Spectral, Integers, Streams, Ragged, Halves)}


def add_arguments(parser):
    parser.add_argument("--load", choices=LOADS, required=True)


if __name__ == "__main__":
    parsed = harness.parse_arguments(__doc__, add_arguments, steps=100)
    harness.run(f"assorted {parsed.load}", parsed, LOADS[parsed.load])
