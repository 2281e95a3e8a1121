"""Two ranks of data-parallel training on one GPU: `torchrun --nproc-per-node 2` this file.

Gradients travel through gloo, since NCCL refuses two ranks on one GPU. Started without torchrun
it starts torchrun on itself, so that the profiled command is the launcher, as in real jobs.
"""

import argparse
import json
import os
import sys

import torch
import torch.distributed
from torch.nn import functional

import harness
from gpt import GptShape, make_gpt


def average_gradients(model, ranks):
    for parameter in model.parameters():
        on_host = parameter.grad.float().cpu()
        torch.distributed.all_reduce(on_host)
        parameter.grad.copy_(on_host / ranks)


def train(arguments):
    torch.manual_seed(1)
    shape = GptShape(layers=arguments.layers, context=256, vocabulary=8192)
    model = make_gpt(shape)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    torch.manual_seed(2 + torch.distributed.get_rank())
    tokens = torch.randint(shape.vocabulary, (4, shape.context + 1), device="cuda")
    for _ in range(arguments.steps):
        logits = model(tokens[:, :-1])
        loss = functional.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        average_gradients(model, torch.distributed.get_world_size())
        optimizer.step()
        optimizer.zero_grad()
    return round(loss.item(), 1)


def run_rank(arguments):
    torch.cuda.set_device(0)
    torch.distributed.init_process_group("gloo")
    with harness.counting(arguments.count_with_torch_profiler) as counts:
        loss = train(arguments)
    mine = {"pid": os.getpid(), "loss": loss, "counts": counts}
    everyone = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(everyone, mine)
    if torch.distributed.get_rank() == 0:
        result = {"workload": "torchrun_two_ranks", "steps": arguments.steps,
                  "rank_pids": [rank["pid"] for rank in everyone],
                  "output": {"losses": [rank["loss"] for rank in everyone]}}
        if arguments.count_with_torch_profiler:
            result["counts"] = {"kernel_launches": sum(rank["counts"]["kernel_launches"]
                                                       for rank in everyone)}
        print(json.dumps(result), flush=True)
    torch.distributed.destroy_process_group()


def start_torchrun():
    # A machine whose name does not resolve would leave gloo without an address.
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    os.execv(sys.executable, [sys.executable, "-m", "torch.distributed.run", "--standalone",
                              "--nproc-per-node", "2", *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--count-with-torch-profiler", action="store_true")
    arguments = parser.parse_args()
    if "RANK" in os.environ:
        run_rank(arguments)
    else:
        start_torchrun()


if __name__ == "__main__":
    main()
