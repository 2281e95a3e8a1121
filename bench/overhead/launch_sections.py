#!/usr/bin/env python3
"""A host-bound load of forked_launches.py: what its launches cost the launching thread, and when.

    launch_sections.py LOAD --seconds 13 --core 3 --result FILE

A step launches fewer kernels than the driver's queue holds, so that no launch waits for the GPU, and
then waits for them all. Only the launching is measured, as CPU time of its thread. Beside each step
stands a third of a millisecond of other work (price_reference.py), which tells how fast the host is.
Figures are sums over pieces of a quarter of a second: [seconds since CUDA began, sections, their CPU
time, references, their CPU time], all in seconds. With --turns SOCKET it works in turns with others
on its core (launch_turns.py): each turn is a piece, whose number stands at its end, and its first
step does not count, since the caches are those of another process. Needs torch; `fake` needs nothing.
"""

import argparse
import gc
import json
import os
import pathlib
import sys
import time

from launch_turns import Turns
from presence_library import end_recording
from price_reference import Reference

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "workloads"))

PIECE_S = 0.25
REFERENCE_PART = 0.01
TURN_S = 0.015
WARMUP_STEPS = 10


def fake():
    """(launching, waiting): computes for a millisecond, waits for none."""
    return lambda: sum(range(50_000)), lambda: time.sleep(0.0005)


def launches():
    """400 launches of a kernel that ends before the next."""
    import torch
    small = torch.zeros(1, device="cuda")

    def launch():
        for _ in range(400):
            small.add_(1)
    return launch, torch.cuda.synchronize


def decode():
    """A forward pass of the GPT that gpt_decode.py runs, about 140 launches."""
    import torch
    from gpt_decode import GptDecode
    decoding = GptDecode(argparse.Namespace(layers=12, batch=16, mode="eager"))
    return decoding.step, torch.cuda.synchronize


def training():
    """One step of a GPT so small that its GPU waits; the backward pass launches on the same thread."""
    import torch
    from gpt import GptShape, make_gpt
    shape = GptShape(layers=8, width=256, heads=4, context=64, vocabulary=1024)
    model = make_gpt(shape)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    tokens = torch.randint(shape.vocabulary, (4, shape.context + 1), device="cuda")
    torch.autograd.set_multithreading_enabled(False)

    def launch():
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1),
                                                 tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return launch, torch.cuda.synchronize


LOADS = {"fake": fake, "launches": launches, "decode": decode, "training": training}


class Pieces:
    """Sums of sections and references over pieces of a quarter of a second."""

    def __init__(self, piece_s=PIECE_S):
        self._piece_s = piece_s
        self.found = []

    def add(self, at_s, section_s, reference_s):
        begin_s = self._piece_s * int(at_s / self._piece_s)
        if not self.found or self.found[-1][0] != begin_s:
            self.found.append([begin_s, 0, 0.0, 0, 0.0])
        piece = self.found[-1]
        piece[1] += 1
        piece[2] += section_s
        piece[3] += 1
        piece[4] += reference_s


def measure(load, began, seconds, reference):
    launch, wait = load
    pieces = Pieces()
    thread_time_ns = time.thread_time_ns
    while (now := time.perf_counter()) < began + seconds:
        reference_s = reference.measure(REFERENCE_PART)[2]
        begin = thread_time_ns()
        launch()
        end = thread_time_ns()
        wait()
        pieces.add(now - began, (end - begin) / 1e9, reference_s)
    return pieces.found


def measure_in_turns(load, began, turns, reference):
    launch, wait = load
    pieces = []
    for turn in turns:
        begun = time.perf_counter()
        launch()
        wait()
        piece = [begun - began, 0, 0.0, 0, 0.0, turn]
        while time.perf_counter() < begun + TURN_S or piece[1] == 0:
            piece[3] += 1
            piece[4] += reference.measure(REFERENCE_PART)[2]
            begin = time.thread_time_ns()
            launch()
            end = time.thread_time_ns()
            wait()
            piece[1] += 1
            piece[2] += (end - begin) / 1e9
        pieces.append(piece)
    return pieces


def run(arguments):
    eager = arguments.load != "fake"
    reference = Reference(eager)
    reference.measure()
    began = time.perf_counter()
    if eager:
        import torch
        torch.cuda.init()
    load = LOADS[arguments.load]()
    for _ in range(WARMUP_STEPS):
        load[0]()
        load[1]()
    if arguments.core is not None:
        # Threads that are there already, and those of the agent, stay on the other cores.
        os.sched_setaffinity(0, {arguments.core})
    gc.collect()
    gc.freeze()
    gc.disable()
    measured_from_s = time.perf_counter() - began
    if arguments.turns:
        with Turns(arguments.turns) as turns:
            pieces = measure_in_turns(load, began, turns, reference)
    else:
        pieces = measure(load, began, arguments.seconds, reference)
    return {"load": arguments.load, "pieces": pieces, "measured_from_s": measured_from_s,
            "threads": len(os.listdir("/proc/self/task")), "presence": end_recording()}


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("load", choices=LOADS)
    parser.add_argument("--seconds", type=float, default=13, help="since CUDA began")
    parser.add_argument("--core", type=int, help="that the launching thread is bound to")
    parser.add_argument("--turns", help="the socket of who says whose turn it is")
    parser.add_argument("--result", required=True, type=pathlib.Path)
    arguments = parser.parse_args(words)
    arguments.result.write_text(json.dumps(run(arguments)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
