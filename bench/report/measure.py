#!/usr/bin/env python3
"""How long a report of a long run takes, and its memory: a table for docs/measurements/scale.md.

    bench/report/measure.py --build build/release --launches 100000000 --variants 2000 [--replay]

The profile is generated load (make_large_profile), no measurement of any GPU.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

CUT_BYTES = 1 << 20  # as if the collector had been killed


def run(command, output=None):
    """Wall time in seconds, CPU time in seconds and peak memory in MiB of a command."""
    begin = time.monotonic()
    with open(output or os.devnull, "wb") as sink:
        process = subprocess.Popen(command, stdout=sink)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {process.returncode}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--launches", type=int, default=100_000_000)
    parser.add_argument("--variants", type=int, default=2000)
    parser.add_argument("--replay", action="store_true", help="also without the stored summary")
    parser.add_argument("--profile", type=pathlib.Path, help="one that was made before")
    arguments = parser.parse_args()
    binaries = arguments.build / "bin"
    with tempfile.TemporaryDirectory() as folder:
        profile = arguments.profile or pathlib.Path(folder) / "large.utlz"
        rows = []
        if not arguments.profile:
            rows.append(("record", run([binaries / "make_large_profile", profile,
                                        str(arguments.launches), str(arguments.variants)])))
        for form in ("text", "html", "markdown", "json", "csv"):
            rows.append((f"report --format {form}",
                         run([binaries / "utlz", "report", "--format", form, profile],
                             pathlib.Path(folder) / form)))
        cut = pathlib.Path(folder) / "cut.utlz"
        shutil.copyfile(profile, cut)
        os.truncate(cut, profile.stat().st_size - CUT_BYTES)
        rows.append(("report, the profile's end cut off", run([binaries / "utlz", "report", cut])))
        if arguments.replay:
            rows.append(("report --recompute", run([binaries / "utlz", "report", "--recompute", profile])))
        print(f"{profile.stat().st_size / 1e6:.0f} MB of profile\n")
        print("| | wall | CPU | memory |\n|---|---:|---:|---:|")
        for name, (wall, cpu, memory) in rows:
            print(f"| `{name}` | {wall:.2f} s | {cpu:.2f} s | {memory:.0f} MiB |")


if __name__ == "__main__":
    main()
