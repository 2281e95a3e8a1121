#!/usr/bin/env python3
"""Whether utlz names faults that are planted in a training loop, and MFU by hand, on a real GPU.

    planted_faults.py --utlz build/release/bin/utlz --output DIRECTORY [--only NAME...]

Prints one line a case and writes results.json. Exits with 1 if a case is wrong, with 77 without a
GPU or PyTorch.
"""

import argparse
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads"

# The rule that names each fault; `none` is to have none of these.
RULES = {
    "none": None,
    "slow_loader": "input_pipeline",
    "item": "synchronization",
    "tiny_batch": "small_batch",
    "unpinned": "pageable_copies",
    "fp32": "single_precision",
    "leak": "memory_leak",
}

GPT = {"model_type": "gpt2", "n_layer": 12, "n_embd": 1024, "n_head": 16, "vocab_size": 50304}
GPT_BATCH = 8
GPT_LENGTH = 1024


def profile(utlz, folder, name, command, *options):
    file = folder / f"{name}.utlz"
    file.unlink(missing_ok=True)
    subprocess.run([utlz, "run", "-o", file, "--no-report", *options, "--", sys.executable,
                    *command], check=True, stdout=subprocess.DEVNULL)
    report = subprocess.run([utlz, "report", "--format", "json", file], check=True,
                            capture_output=True, text=True)
    (folder / f"{name}.json").write_text(report.stdout)
    return json.loads(report.stdout)


def check_fault(utlz, folder, fault):
    report = profile(utlz, folder, fault, [str(WORKLOADS / "planted_faults.py"), fault])
    found = [finding["rule"] for finding in report["findings"]]
    wanted = RULES[fault]
    planted = [rule for rule in found if rule in RULES.values()]
    right = wanted in found if wanted else not planted
    return {"name": fault, "right": right, "wanted": wanted, "found": found,
            "verdict": report.get("verdict")}


def check_mfu(utlz, folder):
    """MFU from a configuration against the same sum by hand."""
    config = folder / "gpt.json"
    config.write_text(json.dumps(GPT))
    report = profile(utlz, folder, "mfu", [str(WORKLOADS / "gpt_train.py"), "--steps", "100"],
                     f"--model-config={config}", f"--batch-size={GPT_BATCH}",
                     f"--sequence-length={GPT_LENGTH}")
    width, layers, tokens = GPT["n_embd"], GPT["n_layer"], GPT_BATCH * GPT_LENGTH
    weights = layers * 12 * width**2 + GPT["vocab_size"] * width
    pairs = GPT_LENGTH * (GPT_LENGTH + 1) / 2
    flops = 3 * (2 * tokens * weights + GPT_BATCH * 4 * layers * width * pairs)
    efficiency = report["efficiency"]
    by_hand = flops / (report["steps"]["time_mean_ns"] * 1e-9) / efficiency["peak_flops_per_second"]
    return {"name": "mfu", "right": abs(efficiency["mfu"] / by_hand - 1) < 1e-6,
            "wanted": by_hand, "found": efficiency["mfu"], "hfu": efficiency.get("hfu"),
            "gap": efficiency.get("gap_note"), "model": efficiency.get("model_note")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--utlz", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--only", nargs="*", choices=[*RULES, "mfu"])
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU, or no PyTorch, on this machine")
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    results = []
    for name in arguments.only or [*RULES, "mfu"]:
        utlz = arguments.utlz.resolve()
        result = (check_mfu(utlz, arguments.output) if name == "mfu"
                  else check_fault(utlz, arguments.output, name))
        results.append(result)
        print(f"{'right' if result['right'] else 'WRONG':6} {name}: wanted {result['wanted']}, "
              f"found {result['found']}", flush=True)
    (arguments.output / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    return 0 if all(result["right"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
