#!/usr/bin/env python3
"""When a process may first subscribe to CUPTI's callbacks, on a real GPU.

    first_subscription.py --output DIRECTORY [--runs 10] [--utlz build/release/bin/utlz]

A bare CUPTI consumer subscribes beside a thread that launches without pause: while kinds of records
are on already (`recording`, which kills), after a first subscription before that (`prepared`), and
after one in mid-run, with nothing on yet (`late`, as an agent that is attached does). With --utlz
also last_gap.cu's program, whose other thread sets memory to the very end, under
`utlz run --counters=range --overhead-budget=unlimited`, which subscribes in mid-run, and with the
defaults, which count at exit. Prints how many of the runs died; exits with 1 where any did but those
of `recording`, with 77 without a GPU or nvcc.
"""

import argparse
import pathlib
import subprocess
import sys

import native_program

SKIPPED = 77


def build(name, output, *options):
    return native_program.build(native_program.HERE / f"{name}.cu", output / name, *options)


def build_consumer(output):
    toolkit = pathlib.Path(native_program.compiler()).resolve().parent.parent
    library = next(path for path in sorted(toolkit.rglob("libcupti.so.1[0-9]")))
    header = next(toolkit.rglob("cupti.h"))
    return build("first_subscription", output, f"-I{header.parent}", "-Xlinker", str(library),
                 "-lcuda", f"-L{toolkit}/lib64/stubs", "-Xlinker", f"-rpath={library.parent}")


def count_deaths(name, command, runs):
    died = 0
    for _ in range(runs):
        status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                check=False).returncode
        if status == SKIPPED:
            sys.exit(SKIPPED)
        died += status != 0
    print(f"{name}: {died} of {runs} died", flush=True)
    return died


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--utlz", type=pathlib.Path)
    arguments = parser.parse_args()
    if native_program.compiler() is None:
        print("no nvcc on this machine", file=sys.stderr)
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    consumer = build_consumer(arguments.output)
    deaths = {}
    for state in ("recording", "prepared", "late"):
        for load in ("kernels", "sets"):
            name = f"{state}, {load}"
            deaths[name] = count_deaths(name, [str(consumer), state, load], arguments.runs)
    if arguments.utlz:
        program = build("last_gap", arguments.output)
        profile = str(arguments.output / "run.utlz")
        for name, options in (
                ("utlz, ranges", ["--counters=range", "--overhead-budget=unlimited"]),
                ("utlz, defaults", ["--counters=none"])):
            deaths[name] = count_deaths(
                name, [str(arguments.utlz), "run", "--no-report", "-o", profile, *options, "--",
                       str(program), "3", "0", "busy"], arguments.runs)
    return 1 if any(died and not name.startswith("recording")
                    for name, died in deaths.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
