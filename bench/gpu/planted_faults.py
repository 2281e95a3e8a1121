#!/usr/bin/env python3
"""Whether utlz names faults that are planted in a training loop, and MFU by hand, on a real GPU.

    planted_faults.py --utlz build/release/bin/utlz --output DIRECTORY [--only NAME...] [--reuse]

Each profile is to be named after its own fault and after none of the others. Prints one line a case
and writes results.json. `--reuse` reduces the profiles of an earlier run again, from their frames:
rules can be tuned without a GPU. Exits with 1 if a case is wrong, with 77 without a GPU or PyTorch.
"""

import argparse
import dataclasses
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


@dataclasses.dataclass(frozen=True)
class Profiler:
    utlz: pathlib.Path
    output: pathlib.Path
    reuse: bool

    def report_of(self, name, command, *options):
        """What utlz says of a command that it profiles, or did already."""
        file = self.output / f"{name}.utlz"
        if not self.reuse:
            file.unlink(missing_ok=True)
            subprocess.run([self.utlz, "run", "-o", file, "--no-report", *options, "--",
                            sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        report = subprocess.run([self.utlz, "report", "--recompute", "--format", "json", file],
                                check=True, capture_output=True, text=True)
        (self.output / f"{name}.json").write_text(report.stdout)
        return json.loads(report.stdout)


def check_fault(profiler, fault):
    report = profiler.report_of(fault, [str(WORKLOADS / "planted_faults.py"), fault])
    found = [finding["rule"] for finding in report.get("findings", [])]
    planted = [rule for rule in found if rule in RULES.values()]
    wanted = RULES[fault]
    return {"name": fault, "right": planted == ([wanted] if wanted else []), "wanted": wanted,
            "found": found, "verdict": report.get("verdict")}


def check_mfu(profiler):
    """MFU from a configuration against the same sum by hand."""
    config = profiler.output / "gpt.json"
    config.write_text(json.dumps(GPT))
    report = profiler.report_of("mfu", [str(WORKLOADS / "gpt_train.py"), "--steps", "100"],
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
    parser.add_argument("--reuse", action="store_true", help="profiles that are in the folder")
    arguments = parser.parse_args()
    has_gpu = shutil.which("nvidia-smi") and importlib.util.find_spec("torch")
    if not has_gpu and not arguments.reuse:
        print("no NVIDIA GPU, or no PyTorch, on this machine")
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    results = []
    profiler = Profiler(arguments.utlz.resolve(), arguments.output, arguments.reuse)
    for name in arguments.only or [*RULES, "mfu"]:
        result = check_mfu(profiler) if name == "mfu" else check_fault(profiler, name)
        results.append(result)
        print(f"{'right' if result['right'] else 'WRONG':6} {name}: wanted {result['wanted']}, "
              f"found {result['found']}", flush=True)
    (arguments.output / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    return 0 if all(result["right"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
