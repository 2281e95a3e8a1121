"""Copies, sets and elementwise kernels that move known bytes, on buffers far larger than L2."""

import harness
import torch


class PlantedCopies(harness.Workload):
    """One step: every operation in turn, `repetitions` times or a tenth of that."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.bytes = arguments.mebibytes << 20
        elements = self.bytes // 4
        self.source = torch.randn(elements, device="cuda")
        self.target = torch.zeros(elements, device="cuda")
        self.pinned = torch.zeros(elements, pin_memory=True)
        self.pageable = torch.zeros(elements)
        self.operations = {name: operation for name, operation in self._all_operations().items()
                           if name in arguments.operations}

    def _all_operations(self):
        return {
            "copy_device_to_device": lambda: self.target.copy_(self.source),
            "kernel_read_write": lambda: torch.add(self.source, 1.0, out=self.target),
            # Of another type than any fill of PyTorch's own, to be told apart by its name.
            "kernel_write": lambda: self.target.view(torch.int32).fill_(2),
            "set": lambda: self.target.zero_(),
            "copy_host_to_device_pinned":
                lambda: self.target.copy_(self.pinned, non_blocking=True),
            "copy_device_to_host_pinned":
                lambda: self.pinned.copy_(self.source, non_blocking=True),
            "copy_host_to_device_pageable": lambda: self.target.copy_(self.pageable),
        }

    def _repetitions(self, name):
        # Crossing to the host takes about a hundred times as long.
        repetitions = self.arguments.repetitions
        return max(1, repetitions // 10) if name in ACROSS else repetitions

    def step(self):
        for name, operation in self.operations.items():
            for _ in range(self._repetitions(name)):
                operation()

    def expected(self, steps):
        # DRAM bytes of one launch: read, written.
        size = self.bytes
        moved = {"copy_device_to_device": (size, size), "kernel_read_write": (size, size),
                 "kernel_write": (0, size), "set": (0, size),
                 "copy_host_to_device_pinned": (0, size), "copy_device_to_host_pinned": (size, 0),
                 "copy_host_to_device_pageable": (0, size)}
        expected = {}
        for name in self.operations:
            count = steps * self._repetitions(name)
            expected[name] = {"launches": count, "dram_read_bytes": count * moved[name][0],
                              "dram_write_bytes": count * moved[name][1]}
        return expected


ON_DEVICE = ["copy_device_to_device", "kernel_read_write", "kernel_write", "set"]
ACROSS = ["copy_host_to_device_pinned", "copy_device_to_host_pinned",
          "copy_host_to_device_pageable"]


def add_arguments(parser):
    parser.add_argument("--mebibytes", type=int, default=1024, help="size of each buffer")
    parser.add_argument("--repetitions", type=int, default=20,
                        help="a step, of what stays on the device; a tenth of what crosses")
    parser.add_argument("--operations", nargs="+", choices=ON_DEVICE + ACROSS,
                        default=ON_DEVICE + ACROSS)


if __name__ == "__main__":
    harness.run("planted_copies",
                harness.parse_arguments(__doc__, add_arguments, steps=5, warmup=1), PlantedCopies)
