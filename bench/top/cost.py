#!/usr/bin/env python3
"""What `utlz top` costs: its share of one core while it shows a full screen or writes lines.

    bench/top/cost.py --utlz build/release/bin/utlz [--seconds 60] [--nvml FOLDER]

It runs in a terminal of its own that nobody looks at. Start-up, the first two seconds, is left out.
`--nvml` names a folder with another libnvidia-ml.so.1.
"""

import argparse
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

START_UP_S = 2


def cpu_seconds(pid):
    """Of all threads of the process, to the nanosecond."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total * 1e-9


def read_for(terminal, seconds):
    """Takes what is written; the number of bytes."""
    size = 0
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            size += len(os.read(terminal, 1 << 16))
    return size


def measure(arguments, environment, size, seconds):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(arguments[0], arguments, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    read_for(terminal, START_UP_S)
    before, begun = cpu_seconds(pid), time.monotonic()
    written = read_for(terminal, seconds)
    spent, took = cpu_seconds(pid) - before, time.monotonic() - begun
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)
    os.close(terminal)
    return spent / took, written / took


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--nvml")
    options = parser.parse_args()
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    if options.nvml:
        environment["LD_LIBRARY_PATH"] = options.nvml
    for name, arguments, size in (("screen of 80 x 24", [], (80, 24)),
                                  ("screen of 200 x 60", [], (200, 60)),
                                  ("lines", ["--plain"], (80, 24)),
                                  ("JSON", ["--json"], (80, 24))):
        share, rate = measure([os.path.abspath(options.utlz), "top", *arguments], environment, size,
                              options.seconds)
        print(f"{name:20s} {100 * share:6.2f} % of a core  {rate:8.0f} B/s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
