"""Trains the GPT of gpt_train.py in two ranks on two GPUs, gradients averaged by NCCL.

DistributedDataParallel of PyTorch, as most write it. Started without torchrun it starts torchrun on
itself, so that the profiled command is the launcher, as in real jobs. Rank 0 prints the line of JSON.
"""

import os
import sys

import harness
import torch
import torch.distributed

import gpt_train


class DdpTraining(gpt_train.GptTraining):

    def __init__(self, arguments):
        super().__init__(arguments)
        self.model = torch.nn.parallel.DistributedDataParallel(
            self.model, device_ids=[torch.cuda.current_device()])


def run_rank():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    if torch.distributed.get_rank() != 0:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    arguments = harness.parse_arguments(__doc__, gpt_train.add_arguments)
    harness.run("ddp_train", arguments, DdpTraining)
    torch.distributed.destroy_process_group()


def start_torchrun():
    os.execv(sys.executable, [sys.executable, "-m", "torch.distributed.run", "--standalone",
                              "--nproc-per-node", "2", *sys.argv])


if __name__ == "__main__":
    if "RANK" in os.environ:
        run_rank()
    else:
        start_torchrun()
