#!/usr/bin/env python3
"""Shows on a real GPU that utlz shares its counters, and gives them up to Nsight Compute.

    beside_others.py --utlz build/release/bin/utlz --output DIRECTORY [--part ncu|sharing]

`ncu` (45 s): `ncu --set basic` profiles kernels of one program while another runs under `utlz run`;
ncu must have its metrics, and utlz samples from before and after. `sharing` (30 s): two runs at once,
both with counters, of which the first ends first. Prints one object of JSON a part, and exits with
1 where something is not as it should be, with 77 where there is no GPU, no torch or no ncu.
"""

import argparse
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import time

SKIPPED = 77
TIME_LIMIT_S = 120

# Multiplies matrices for so many seconds.
LOAD = """
import sys, time, torch
a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for _ in range(20):
        a @ a
    torch.cuda.synchronize()
"""
FEW_KERNELS = """
import torch
a = torch.randn(2048, 2048, device="cuda")
for _ in range(3):
    b = torch.sin(a)
torch.cuda.synchronize()
"""


def start_load(arguments, name, seconds):
    profile = arguments.output / f"{name}.utlz"
    command = [arguments.utlz, "run", "--no-report", "-o", str(profile), "--", sys.executable, "-c",
               LOAD, str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return process, profile


def finish(arguments, process, profile):
    _, errors = process.communicate(timeout=TIME_LIMIT_S)
    if process.returncode != 0:
        return {"exit_status": process.returncode, "errors": errors[-2000:]}
    report = subprocess.run([arguments.utlz, "report", "--format", "json", str(profile)],
                            capture_output=True, text=True, check=True)
    document = json.loads(report.stdout)
    capture = document["capture"]
    gemm = max(document["kernels"], key=lambda kernel: kernel.get("time_ns", 0), default={})
    return {
        "exit_status": 0,
        "counter_source": capture.get("counter_source"),
        "counter_source_reason": capture.get("counter_source_reason"),
        "samples": capture.get("samples", 0),
        "samples_lost": capture.get("samples_lost", 0),
        "samples_untraced": capture.get("samples_untraced", 0),
        "sampler_cpu_share": capture.get("sampler_cpu_share"),
        "other_processes": [device.get("other_processes", 0) for device in document["devices"]],
        "gemm_flops_per_launch": gemm.get("flops", 0) / max(1, gemm.get("launches", 0)),
        "gemm_dram_bytes_known": "dram_bytes" in gemm,
        "notices": document["run"].get("notices", []),
    }


def run_ncu():
    """Of a small program: whether it has its metrics, and how long it took."""
    begin = time.monotonic()
    run = subprocess.run(
        ["ncu", "--set", "basic", "--launch-count", "3", sys.executable, "-c", FEW_KERNELS],
        capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    text = run.stdout + run.stderr
    return {
        "exit_status": run.returncode,
        "seconds": round(time.monotonic() - begin, 1),
        "kernels_with_duration": text.count("Duration "),
        "errors": [line for line in text.splitlines() if "==ERROR==" in line][:5],
    }


def part_ncu(arguments):
    process, profile = start_load(arguments, "ncu", 35)
    time.sleep(10)  # the sampler has the counters by then
    ncu = run_ncu()
    result = {"part": "ncu", "ncu": ncu, "utlz": finish(arguments, process, profile)}
    utlz = result["utlz"]
    result["good"] = (ncu["exit_status"] == 0 and ncu["kernels_with_duration"] > 0 and
                      not ncu["errors"] and utlz["exit_status"] == 0 and utlz["samples"] > 0 and
                      any("lent to another profiler" in notice for notice in utlz["notices"]))
    return result


def part_sharing(arguments):
    first = start_load(arguments, "first", 12)
    time.sleep(3)
    second = start_load(arguments, "second", 18)
    runs = [finish(arguments, *first), finish(arguments, *second)]
    good = all(run["exit_status"] == 0 and run["counter_source"] in ("sampled", "calibrated") and
               run["samples"] > run["samples_untraced"] for run in runs)
    return {"part": "sharing", "first": runs[0], "second": runs[1], "good": good}


def missing(parts):
    if not shutil.which("nvidia-smi") or subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, check=False).returncode != 0:
        return "no NVIDIA GPU on this machine"
    if not importlib.util.find_spec("torch"):
        return f"no torch for {sys.executable}"
    if "ncu" in parts and not shutil.which("ncu"):
        return "no ncu in PATH"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--utlz", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--part", action="append", choices=("ncu", "sharing"))
    arguments = parser.parse_args()
    parts = arguments.part or ["ncu", "sharing"]
    if reason := missing(parts):
        print(f"skipped: {reason}", file=sys.stderr)
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    results = [{"ncu": part_ncu, "sharing": part_sharing}[part](arguments) for part in parts]
    (arguments.output / "beside_others.json").write_text(json.dumps(results, indent=2) + "\n")
    for result in results:
        print(json.dumps(result))
    return 0 if all(result["good"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
