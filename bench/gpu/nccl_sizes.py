#!/usr/bin/env python3
"""Holds the sizes and counts of collectives in a report against what was sent, on two real GPUs.

    nccl_sizes.py --utlz build/release/bin/utlz --output DIRECTORY [--bound]

Two ranks exchange messages of known sizes through NCCL (all-reduce, all-gather, reduce-scatter,
send and receive; alone, and several in a group) under `utlz run --nvtx`, fully traced. Prints what
the report says beside what was sent, and beside the bandwidth by CUDA events over the same calls
back to back (which counts launch gaps too; it is for comparison and judges nothing). With --bound
the process group is bound to its device (`device_id=`), for which PyTorch may make communicators
that do not block: NCCL then launches from a thread of its own, and sizes may stay unknown, but none
may be wrong. Takes about 40 seconds. Exits with 1 where bytes, counts or ranks differ, with 77
where there are not two GPUs with torch and NCCL.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
TIME_LIMIT_S = 300
RANKS = 2
REPEATS = 50
SIZES = [4 << 10, 1 << 20, 32 << 20, 256 << 20]  # bytes of the whole message
GROUPED = 4


def calls_of(torch, distributed, size):
    """The collectives by name, each with a call of `size` bytes as nccl-tests counts them."""
    whole = torch.ones(size // 4, device="cuda")
    share = torch.ones(size // 4 // RANKS, device="cuda")
    peer = 1 - distributed.get_rank()
    other = torch.empty_like(whole)

    def exchange():
        operations = [distributed.P2POp(distributed.isend, whole, peer),
                      distributed.P2POp(distributed.irecv, other, peer)]
        for request in distributed.batch_isend_irecv(operations):
            request.wait()

    return {
        "AllReduce": lambda: distributed.all_reduce(whole),
        "AllGather": lambda: distributed.all_gather_into_tensor(whole, share),
        "ReduceScatter": lambda: distributed.reduce_scatter_tensor(share, whole),
        "SendRecv": exchange,
    }


def timed(torch, call):
    """Seconds of a call, by events around REPEATS of them."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(REPEATS):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1e3 / REPEATS


def run_rank(rank, port, bound):
    import torch
    from torch import distributed

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank),
                      LOCAL_RANK=str(rank), WORLD_SIZE=str(RANKS))
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", rank=rank, world_size=RANKS,
                                   device_id=torch.device("cuda", rank) if bound else None)
    sent = {}
    for size in SIZES:
        for name, call in calls_of(torch, distributed, size).items():
            seconds = timed(torch, call)
            row = sent.setdefault(name, {"calls": 0, "bytes": 0, "events": []})
            row["calls"] += REPEATS
            row["bytes"] += REPEATS * size
            row["events"].append({"bytes": size, "algorithm_bytes_per_second": size / seconds})
    # Several in a group: as many calls, their kernels are NCCL's to choose.
    tensors = [torch.ones(1 << 18, device="cuda") for _ in range(GROUPED)]
    group = distributed.distributed_c10d._coalescing_manager
    with group(device=torch.device("cuda", rank)):
        for tensor in tensors:
            distributed.all_reduce(tensor)
    torch.cuda.synchronize()
    sent["AllReduce"]["bytes"] += GROUPED * (1 << 20)
    if rank == 0:
        print(json.dumps({"nccl": ".".join(map(str, torch.cuda.nccl.version())), "sent": sent}))
    distributed.destroy_process_group()


def run_ranks(bound):
    import torch.multiprocessing

    torch.multiprocessing.spawn(run_rank, args=(29511, bound), nprocs=RANKS)


def compare(told, report, bound):
    rows = {row["collective"]: row for row in report["communication"]}
    problems = []
    shown = {}
    for name, sent in told["sent"].items():
        row = rows.get(name, {})
        shown[name] = {
            "sent_bytes": RANKS * sent["bytes"], "reported_bytes": row.get("bytes"),
            "calls": RANKS * sent["calls"], "reported_launches": row.get("launches"),
            "sized_launches": row.get("sized_launches"),
            "algorithm_bytes_per_second": row.get("algorithm_bytes_per_second"),
            "bus_bytes_per_second": row.get("bus_bytes_per_second"),
            "size_note": row.get("size_note"), "sizes": row.get("sizes"), "events": sent["events"]}
        if bound and row.get("sized_launches", 0) < row.get("launches", 0):
            if row.get("bytes", 0) > RANKS * sent["bytes"] or "size_note" not in row:
                problems.append(f"{name}: {row.get('bytes')} bytes of {row.get('sized_launches')} "
                                "launches, and no word of the rest")
            continue
        if row.get("bytes") != RANKS * sent["bytes"]:
            problems.append(f"{name}: {row.get('bytes')} bytes reported, "
                            f"{RANKS * sent['bytes']} sent")
        if row.get("sized_launches") != row.get("launches"):
            problems.append(f"{name}: sizes of {row.get('sized_launches')} of "
                            f"{row.get('launches')} launches")
        # A group is fewer launches than calls.
        most = RANKS * (sent["calls"] + (GROUPED if name == "AllReduce" else 0))
        if not RANKS * sent["calls"] <= row.get("launches", 0) <= most:
            problems.append(f"{name}: {row.get('launches')} launches for {most} calls")
        if any(size.get("ranks") != RANKS for size in row.get("sizes", [{}])):
            problems.append(f"{name}: ranks are not {RANKS} everywhere")
    return shown, problems


def skip_reason():
    if importlib.util.find_spec("torch") is None:
        return "no torch here"
    import torch
    from torch import distributed

    if torch.cuda.device_count() < RANKS:
        return f"{torch.cuda.device_count()} GPUs here; this wants {RANKS}"
    return None if distributed.is_nccl_available() else "this torch has no NCCL"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--bound", action="store_true", help="bind the group to its device")
    parser.add_argument("--ranks", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ranks:
        run_ranks(arguments.bound)
        return 0
    if reason := skip_reason():
        print(f"skipped: {reason}")
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    profile = arguments.output / ("nccl_sizes_bound.utlz" if arguments.bound else "nccl_sizes.utlz")
    run = subprocess.run(
        [arguments.utlz, "run", "--nvtx", "--overhead-budget", "unlimited", "--counters", "none",
         "--no-report", "-o", str(profile), "--", sys.executable, __file__, "--ranks",
         *(["--bound"] if arguments.bound else [])],
        capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    if run.returncode != 0:
        print(json.dumps({"exit_status": run.returncode, "errors": run.stderr[-3000:]}, indent=1))
        return 1
    told = json.loads(next(line for line in run.stdout.splitlines() if line.startswith("{")))
    report = json.loads(subprocess.run(
        [arguments.utlz, "report", "--format", "json", str(profile)],
        capture_output=True, text=True, check=True).stdout)
    shown, problems = compare(told, report, arguments.bound)
    print(json.dumps({"nccl": told["nccl"], "collectives": shown, "problems": problems}, indent=1))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
