#!/usr/bin/env python3
"""Whether programs survive that end while ranges are set up or counted, on a real GPU.

    exit_while_counting.py --utlz build/release/bin/utlz --output DIRECTORY [--runs 40]

Each program multiplies and convolves for a while and ends: the first after --first seconds of work, each
later one --step seconds later, so that the second in which the agent calibrates by ranges is swept, which
comes after 0.8 s (docs/decisions/0020-ranges-end-before-the-libraries-they-use.md). A run takes six
seconds. Prints each one's status and what was counted; exits with 1 where one died, with 77 without a GPU
or PyTorch.
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

# Libraries that are loaded long after cuInit are torn down before what was registered there.
LOAD = """
import sys, time, torch
a = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
images = torch.randn(8, 3, 64, 64, device="cuda")
convolution = torch.nn.Conv2d(3, 16, 3).cuda()
torch.cuda.synchronize()
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for _ in range(20):
        a @ a
    convolution(images).sum().backward()
    torch.cuda.synchronize()
print("worked", flush=True)
"""


def measure(arguments, seconds):
    profile = arguments.output / "run.utlz"
    begin = time.monotonic()
    run = subprocess.run(
        [arguments.utlz, "run", "--counters=range", "--overhead-budget=unlimited", "--no-report", "-o",
         str(profile), "--", sys.executable, "-c", LOAD, str(seconds)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    took = time.monotonic() - begin
    report = subprocess.run([arguments.utlz, "report", "--format", "json", str(profile)],
                            stdout=subprocess.PIPE, text=True, check=True)
    document = json.loads(report.stdout)
    return {"seconds": seconds, "status": run.returncode, "took": took,
            "worked": "worked" in run.stdout, "ranges": document["capture"].get("ranges", 0),
            "end": document["processes"][0]["end"] if document["processes"] else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--first", type=float, default=0.7)
    parser.add_argument("--step", type=float, default=0.015)
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU, or no PyTorch, on this machine")
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    print("| worked for | exit status | after its work | ranges | agent's end | took |\n"
          "| --- | --- | --- | --- | --- | --- |")
    results = []
    for index in range(arguments.runs):
        result = measure(arguments, arguments.first + index * arguments.step)
        results.append(result)
        print(f"| {result['seconds']:.3f} s | {result['status']} | {result['worked']} | "
              f"{result['ranges']} | {result['end']} | {result['took']:.1f} s |", flush=True)
    (arguments.output / "exit_while_counting.json").write_text(json.dumps(results, indent=1) + "\n")
    died = sum(result["status"] != 0 for result in results)
    print(f"{died} of {len(results)} died")
    return 1 if died else 0


if __name__ == "__main__":
    sys.exit(main())
