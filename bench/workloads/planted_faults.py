"""A small training loop with one fault planted in it, by name; `none` has none.

    planted_faults.py {none,slow_loader,item,tiny_batch,unpinned,fp32,leak} [--seconds S]
"""

import argparse
import time

import torch
from torch import nn

WIDTH = 4096
BATCH = 8192
DEPTH = 6


class Faults:

    def __init__(self, name):
        self.name = name
        kind = torch.float32 if name == "fp32" else torch.bfloat16
        torch.backends.cuda.matmul.allow_tf32 = False
        self.batch = 16 if name == "tiny_batch" else BATCH
        width = 256 if name == "tiny_batch" else WIDTH
        layers = [layer for _ in range(DEPTH) for layer in (nn.Linear(width, width), nn.ReLU())]
        self.model = nn.Sequential(*layers).to("cuda", kind)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4, fused=True)
        self.input = torch.randn(self.batch, width, dtype=kind)
        self.on_device = self.input.cuda()
        if name == "unpinned":
            self.on_host = torch.randn(4 * self.batch, width, dtype=kind)
        else:
            self.on_host = self.input.pin_memory()
        self.kept = []
        self.graph = self.capture() if name == "tiny_batch" else None

    def compute(self):
        loss = self.model(self.on_device).float().pow(2).mean()
        loss.backward()
        self.optimizer.step()
        # A captured graph needs its gradients where they were.
        self.optimizer.zero_grad(set_to_none=self.name != "tiny_batch")
        return loss

    def capture(self):
        """As a graph, so that only the size of the batch is wrong, not the launching."""
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.compute()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.compute()
        return graph

    def step(self):
        if self.graph is not None:
            self.graph.replay()
            return
        if self.name == "slow_loader":
            # The loader is late: the GPU has drained by then.
            torch.cuda.synchronize()
            time.sleep(0.02)
        if self.name == "unpinned":
            self.on_device = self.on_host.to("cuda")[:self.batch]
        else:
            self.on_device = self.on_host.to("cuda", non_blocking=True)
        loss = self.compute()
        if self.name == "item":
            for parameter in self.model.parameters():
                parameter.data.sum().item()
        if self.name == "leak":
            self.kept.append(loss + torch.zeros(8 << 20, device="cuda"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fault", choices=["none", "slow_loader", "item", "tiny_batch", "unpinned",
                                          "fp32", "leak"])
    parser.add_argument("--seconds", type=float, default=8)
    arguments = parser.parse_args()
    faults = Faults(arguments.fault)
    end = time.monotonic() + arguments.seconds
    steps = 0
    while time.monotonic() < end:
        faults.step()
        steps += 1
        if steps % 20 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    print(f"{arguments.fault}: {steps} steps")


if __name__ == "__main__":
    main()
