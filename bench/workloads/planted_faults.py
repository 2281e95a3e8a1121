"""A small training loop with one fault planted in it, by name; `none` has none.

    planted_faults.py {none,slow_loader,item,tiny_batch,unpinned,fp32,leak} [--seconds S]

Without a fault the GPU computes nearly all the time: kernels of about 0.1 ms, launched faster than
they run, and the next step's input copied from pinned memory beside them.
"""

import argparse
import math
import time

import torch
from torch import nn

WIDTH = 4096
BATCH = 2048
DEPTH = 6
LEAKED_BYTES = 8 << 20  # a step


class PinnedInput:
    """Batches from pinned memory, each copied on a stream of its own while the one before is used."""

    def __init__(self, batch):
        self.on_host = batch.pin_memory()
        self.buffers = [batch.cuda(), batch.cuda()]
        self.copied = [torch.cuda.Event(), torch.cuda.Event()]
        self.used = [torch.cuda.Event(), torch.cuda.Event()]
        self.stream = torch.cuda.Stream()
        self.next = 0
        self.prefetch()

    def prefetch(self):
        self.stream.wait_event(self.used[self.next])
        with torch.cuda.stream(self.stream):
            self.buffers[self.next].copy_(self.on_host, non_blocking=True)
            self.copied[self.next].record()

    def take(self):
        current = self.next
        torch.cuda.current_stream().wait_event(self.copied[current])
        self.next = 1 - current
        self.prefetch()
        return self.buffers[current]

    def release(self):
        """What was launched so far was the last to read the batch taken before."""
        self.used[1 - self.next].record()


class PageableInput:
    """Batches from memory that is not pinned: the copy waits for the GPU, and the GPU for it."""

    def __init__(self, batch):
        self.on_host = batch.repeat(4, 1)
        self.size = batch.shape[0]

    def take(self):
        return self.on_host.to("cuda")[:self.size]

    def release(self):
        pass


class Faults:

    def __init__(self, name):
        self.name = name
        kind = torch.float32 if name == "fp32" else torch.bfloat16
        torch.backends.cuda.matmul.allow_tf32 = False
        tiny = name == "tiny_batch"
        batch, width = (16, 256) if tiny else (BATCH, WIDTH)
        layers = [layer for _ in range(DEPTH) for layer in (nn.Linear(width, width), nn.ReLU())]
        self.model = nn.Sequential(*layers).to("cuda", kind)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4, fused=True)
        data = torch.randn(batch, width).to(kind)
        if tiny:
            self.on_device = data.cuda()
            self.graph = self.capture()
        else:
            self.input = PageableInput(data) if name == "unpinned" else PinnedInput(data)
        self.kept = []

    def forward(self, x):
        for layer in self.model:
            x = layer(x)
            if self.name == "item" and not math.isfinite(x.mean().item()):
                raise ValueError("an activation is not finite")
        return x

    def compute(self, x):
        loss = self.forward(x).float().pow(2).mean()
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
                self.compute(self.on_device)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.compute(self.on_device)
        return graph

    def late_batch(self):
        """The loader is late: the GPU has drained by then, and has the batch still to be copied."""
        torch.cuda.synchronize()
        time.sleep(0.02)
        return self.input.on_host.to("cuda", non_blocking=True)

    def step(self):
        if self.name == "tiny_batch":
            self.graph.replay()
            return
        loss = self.compute(self.late_batch() if self.name == "slow_loader" else self.input.take())
        self.input.release()
        if self.name == "leak":
            self.kept.append(loss.detach() + torch.zeros(LEAKED_BYTES // 4, device="cuda"))


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
