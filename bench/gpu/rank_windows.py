#!/usr/bin/env python3
"""How far the ranks of a job traced at the same time, and were sampled together, by its profile.

    utlz run -o job.utlz -- python3 bench/workloads/ddp_train.py --steps 300
    rank_windows.py job.utlz

Each process's first window, from its start, is left out. Prints how long each process traced, for how long
any and all of them did, and how often each GPU was sampled. Where ranks trace together, `any` is hardly
longer than one of them, and every GPU was sampled about as often as there were windows.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "overhead"))

import profile_frames  # pylint: disable=wrong-import-position

UUID, REASON, SAMPLES, LOST, WINDOWS = 1, 4, 6, 7, 9  # fields of SamplerStatus


def times_by_depth(windows_by_process):
    """[time in which at least one process traced, at least two, …] in ns."""
    edges = sorted((time, step) for windows in windows_by_process for begin, end in windows
                   for time, step in ((begin, 1), (end, -1)))
    times = [0] * len(windows_by_process)
    depth, last = 0, 0
    for time, step in edges:
        for process in range(depth):
            times[process] += time - last
        depth, last = depth + step, time
    return times


def last_statuses(profile):
    """{UUID: fields} of each GPU's last SamplerStatus."""
    statuses = {}
    for kind, flags, payload in profile_frames.frames(profile):
        if kind == profile_frames.SAMPLER_STATUS and not flags & profile_frames.COMPRESSED:
            fields = profile_frames.message_fields(payload)
            statuses[fields.get(UUID, b"").hex()] = fields
    return statuses


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile")
    arguments = parser.parse_args()
    windows = [of_one[1:] for of_one in
               profile_frames.trace_windows_by_process(arguments.profile).values()]
    if not windows:
        sys.exit(f"{arguments.profile} has no trace window that ended")
    print("| process | windows after the first | traced, ms |\n| --- | --- | --- |")
    for process, of_one in enumerate(windows):
        print(f"| {process} | {len(of_one)} | {sum(end - begin for begin, end in of_one) / 1e6:.0f} |")
    depths = times_by_depth(windows)
    print(f"\nAny of them traced for {depths[0] / 1e6:.0f} ms, all at once for {depths[-1] / 1e6:.0f} ms.\n")
    print("| GPU | sampled windows | samples | lost | why not |\n| --- | --- | --- | --- | --- |")
    for uuid, fields in sorted(last_statuses(arguments.profile).items()):
        print(f"| {uuid} | {fields.get(WINDOWS, 0)} | {fields.get(SAMPLES, 0)} | {fields.get(LOST, 0)} | "
              f"{fields.get(REASON, b'').decode(errors='replace')} |")


if __name__ == "__main__":
    main()
