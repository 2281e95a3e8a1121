#!/usr/bin/env python3
"""A GPT training that runs ahead of the GPU: it waits for it only every 20 steps.

    training_ahead.py [--seconds S] [--layers L] [--batch B] [--switch-agent]

With --switch-agent, under `utlz run`, a thread deactivates the agent and activates it all the while.
"""

import argparse
import json
import pathlib
import random
import sys
import threading
import time

import torch

from gpt_train import GptTraining


# Nearly everything is traced, and the agent watches for new work all the same.
BUDGET_PPM = 900_000


class AgentSwitching(threading.Thread):

    def __init__(self):
        super().__init__(daemon=True)
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "overhead"))
        from agent_control import INACTIVE, TRACING, AgentControl
        self.states = (INACTIVE, TRACING)
        self.control = AgentControl()
        self.stopping = False
        self.switches = 0

    def run(self):
        while not self.stopping:
            for state in self.states:
                self.control.request(state, BUDGET_PPM)
                time.sleep(0.01 + random.random() * 0.05)
            self.switches += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--switch-agent", action="store_true")
    arguments = parser.parse_args()
    training = GptTraining(argparse.Namespace(layers=arguments.layers, batch=arguments.batch,
                                              compile=False))
    for _ in range(3):
        training.step()
    torch.cuda.synchronize()
    switching = AgentSwitching() if arguments.switch_agent else None
    if switching:
        switching.start()
    begin = time.monotonic()
    steps = 0
    while time.monotonic() < begin + arguments.seconds:
        for _ in range(20):
            training.step()
        torch.cuda.synchronize()
        steps += 20
    seconds = time.monotonic() - begin
    if switching:
        switching.stopping = True
        switching.join()
    print(json.dumps({"steps": steps, "step_ms": seconds / steps * 1e3,
                      "switches": switching.switches if switching else None}))


if __name__ == "__main__":
    main()
