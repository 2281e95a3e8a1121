"""The loads that use PyTorch, and steps of one with each launch kept."""

import argparse
import statistics
import time

from stack_probe_library import KEEP, LAUNCHES


def import_torch():
    import torch
    torch.manual_seed(1)
    return torch


class Decode:
    """Forward passes of 16 tokens through the GPT of bench/workloads."""

    def __init__(self, layers=12, mode="eager"):
        import gpt_decode
        import torch
        self.torch = torch
        self.load = gpt_decode.GptDecode(argparse.Namespace(layers=layers, batch=16, mode=mode))
        self.model = self.load.model

    def step(self):
        self.load.step()

    def steps_us(self, steps=20):
        """Of one step, on the launching thread; each waits for the last one's end first."""
        times = []
        for _ in range(steps):
            self.torch.cuda.synchronize()
            begin = time.perf_counter_ns()
            self.step()
            times.append((time.perf_counter_ns() - begin) / 1e3)
        return statistics.median(times)


class Train:
    """Training steps of a small GPT."""

    def __init__(self, layers=4, checkpoint=False):
        import gpt
        import torch
        self.torch, self.checkpoint = torch, checkpoint
        self.shape = gpt.GptShape(layers=layers, width=512, heads=8, context=256, vocabulary=8192)
        self.model = gpt.make_gpt(self.shape)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.tokens = torch.randint(self.shape.vocabulary, (4, 257), device="cuda")

    def forward(self):
        functional = self.torch.nn.functional
        tokens = self.tokens[:, :-1]
        if self.checkpoint:
            from torch.utils.checkpoint import checkpoint
            x = self.model.token(tokens) + self.model.position(
                self.torch.arange(tokens.shape[1], device="cuda"))
            for block in self.model.blocks:
                x = checkpoint(block, x, use_reentrant=False)
            logits = self.model.head(self.model.norm(x))
        else:
            logits = self.model(tokens)
        return functional.cross_entropy(logits.flatten(0, 1).float(), self.tokens[:, 1:].flatten())

    def step(self):
        loss = self.forward()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


class Llama:

    def __init__(self):
        import transformers_generate
        self.load = transformers_generate.Generation(
            argparse.Namespace(new_tokens=8, batch=4, prompt_tokens=32))
        self.model = self.load.model

    def step(self):
        self.load.step()


LOADS = {"decode": Decode, "train": Train, "llama": Llama,
         "checkpoint": lambda: Train(checkpoint=True)}


def kept(probe, load, torch, steps, mode=KEEP, runtime=False, warm=3):
    """Runs steps with each launch kept."""
    for _ in range(warm):
        load.step()
    torch.cuda.synchronize()
    probe.clear()
    probe.mode(mode)
    probe.subscribe()
    probe.launches_on(True, runtime)
    for _ in range(steps):
        load.step()
    torch.cuda.synchronize()
    probe.library.probe_driver_callbacks(0)
    if runtime:
        probe.library.probe_runtime_callbacks(0)
    probe.unsubscribe()
    probe.mode(0)
    return list(probe.rows(LAUNCHES))
