#!/usr/bin/env python3
"""Whether nodes of CUDA graphs have the stack of their capture, and what that costs, on a real GPU.

    captured_stacks.py --utlz build/release/bin/utlz [--output DIRECTORY]

1. Coverage: a graph of a GPT's decode, replayed, and a GPT under torch.compile(mode="reduce-overhead"),
   each under `utlz run --stacks=auto`: how much of the kernels' time has a line and a layer that were
   seen, as `utlz report --format json --recompute` says.
2. How long a capture takes: alone, under `utlz run`, and under `utlz run --stacks=auto`.
3. torch.profiler that starts for the first time before, during and after a capture, alone and under
   `utlz run --stacks=auto`: the kernels that it sees in three replays, and again.

Takes about a minute and a half. Exits with 77 without a GPU or PyTorch.
"""

import argparse
import importlib.util
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve()
WORKLOADS = HERE.parent.parent / "workloads"
MOST_SECONDS = 90
STACKS = ("--stacks=auto",)
PROFILER_CASES = ("before", "during", "after")


# --- loads, each in a process of its own -----------------------------------------------------------


def make_decode(layers=12):
    sys.path.insert(0, str(WORKLOADS))
    import torch
    from gpt import GptShape, make_gpt
    torch.cuda.init()
    torch.manual_seed(1)
    shape = GptShape(layers=layers)
    model = make_gpt(shape).eval()
    tokens = torch.randint(shape.vocabulary, (16, 1), device="cuda")

    def forward():
        with torch.inference_mode():
            return model(tokens)

    for _ in range(3):
        forward()
    torch.cuda.synchronize()
    return torch, model, tokens, forward


def load_compiled(seconds=6):
    torch, model, tokens, _ = make_decode(layers=4)
    compiled = torch.compile(model, mode="reduce-overhead")

    def step():
        torch.compiler.cudagraph_mark_step_begin()
        with torch.inference_mode():
            compiled(tokens)

    for _ in range(5):
        step()
    torch.cuda.synchronize()
    steps, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        step()
        steps += 1
        if steps % 50 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return {"steps": steps}


def load_captures(count=30):
    torch, _, _, forward = make_decode()
    captures_us, kept = [], []
    for _ in range(count):
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        with torch.cuda.graph(graph):
            forward()
        captures_us.append((time.perf_counter_ns() - begin) / 1e3)
        kept.append(graph)
        time.sleep(0.05)  # longer than a subscription outlives a capture
    replays_us = []
    for _ in range(300):
        begin = time.perf_counter_ns()
        kept[-1].replay()
        replays_us.append((time.perf_counter_ns() - begin) / 1e3)
        torch.cuda.synchronize()
    return {"captures_us": captures_us, "replay_us": statistics.median(replays_us)}


def load_profiler(case):
    torch, _, _, forward = make_decode(layers=2)
    from torch.profiler import ProfilerActivity, profile
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]

    def kernels(profiler):
        return sum(event.device_type == torch.autograd.DeviceType.CUDA
                   for event in profiler.events())

    def replay(graph):
        for _ in range(3):
            graph.replay()
        torch.cuda.synchronize()

    graph, first = torch.cuda.CUDAGraph(), None
    profiler = profile(activities=activities)
    if case == "before":
        profiler.start()
    # Relaxed, so that what the profiler does when it starts cannot spoil the capture.
    with torch.cuda.graph(graph, capture_error_mode="relaxed"):
        if case == "during":
            profiler.start()
        forward()
    if case == "after":
        profiler.start()
    replay(graph)
    profiler.stop()
    first = kernels(profiler)
    with profile(activities=activities) as again:
        replay(graph)
    return {"kernels": first, "again": kernels(again)}


LOADS = {"compiled": load_compiled, "captures": load_captures,
         **{f"profiler-{case}": (lambda case=case: load_profiler(case)) for case in PROFILER_CASES}}


# --- runs --------------------------------------------------------------------------------------------


class Run:
    """A command, alone (`options` is None) or under `utlz run`, begun at once."""

    def __init__(self, utlz, folder, name, command, options):
        self.name, self.profile = name, folder / f"{name}.utlz"
        under = [] if options is None else [utlz, "run", "-o", str(self.profile), "--no-report",
                                            *options, "--"]
        self.log = open(folder / f"{name}.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([*under, sys.executable, *command], stdout=self.log,
                                        stderr=subprocess.STDOUT)

    def result(self):
        try:
            status = self.process.wait(MOST_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "did not end"
        self.log.seek(0)
        text = self.log.read()
        self.log.close()
        for line in reversed(text.splitlines()):
            if line.startswith("{"):
                return {"status": status, **json.loads(line)}
        return {"status": status, "output": text[-1500:]}


def owners_of(utlz, profile):
    done = subprocess.run([utlz, "report", str(profile), "--format", "json", "--recompute"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": done.stderr[-1500:]}
    owners = json.loads(done.stdout).get("owners", {})
    kept = {name: owners[name] for name in owners
            if name.endswith("_share") or name == "note"}
    kept["layers"] = [row["name"] for row in owners.get("layers", []) if row.get("own_time_ns", 0) > 0][:12]
    kept["lines"] = [row["name"] for row in owners.get("lines", [])][:6]
    return kept


def percent(value):
    return "–" if value is None else f"{100 * value:.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz")
    parser.add_argument("--output", type=pathlib.Path, help="where profiles and results are kept")
    parser.add_argument("--load", choices=sorted(LOADS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        print(json.dumps(LOADS[arguments.load]()), flush=True)
        return 0
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU, or no PyTorch, on this machine")
        return SKIPPED
    begin = time.monotonic()
    folder = arguments.output or pathlib.Path(tempfile.mkdtemp(prefix="captured-stacks-"))
    folder.mkdir(parents=True, exist_ok=True)

    def run(name, command, options):
        return Run(arguments.utlz, folder, name, command, options)

    def own(load):
        return [str(HERE), "--load", load]

    # What is not timed runs beside each other.
    beside = {"compiled": run("compiled", own("compiled"), STACKS)}
    for case in PROFILER_CASES:
        for side, options in (("alone", None), ("stacks", STACKS)):
            beside[f"profiler-{case}-{side}"] = run(f"profiler-{case}-{side}",
                                                    own(f"profiler-{case}"), options)
    results = {name: one.result() for name, one in beside.items()}
    results["graph"] = run("graph", [str(WORKLOADS / "gpt_decode.py"), "--mode", "graph",
                                     "--steps", "1500"], STACKS).result()
    for side, options in (("alone", None), ("run", ()), ("stacks", STACKS)):
        results[f"captures-{side}"] = run(f"captures-{side}", own("captures"), options).result()
    for name in ("graph", "compiled"):
        results[name]["owners"] = owners_of(arguments.utlz, folder / f"{name}.utlz")
    results["captures-stacks"]["owners"] = owners_of(arguments.utlz,
                                                     folder / "captures-stacks.utlz")
    (folder / "captured_stacks.json").write_text(json.dumps(results, indent=1) + "\n")
    print_results(results)
    print(f"\n{time.monotonic() - begin:.0f} s; all of it in {folder}")
    return 0


def print_results(results):
    print("| load | status | a line | a layer, seen | inferred | no owner | note |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    for name in ("graph", "compiled", "captures-stacks"):
        owners = results[name].get("owners", {})
        shares = [percent(owners.get(f"{share}_share"))
                  for share in ("line", "layer", "inferred", "ownerless")]
        print(f"| {name} | {results[name]['status']} | {' | '.join(shares)} | "
              f"{owners.get('note', '')}{owners.get('error', '')} |")
    print("\n| captures | status | first | median | quartiles | launch of a replay |\n"
          "| --- | --- | --- | --- | --- | --- |")
    for side in ("alone", "run", "stacks"):
        row = results[f"captures-{side}"]
        took = row.get("captures_us")
        if took is None:
            print(f"| {side} | {row['status']} | {row.get('output', '')} |")
            continue
        low, middle, high = statistics.quantiles(took[1:], n=4)
        print(f"| {side} | {row['status']} | {took[0]:.0f} µs | {middle:.0f} µs | "
              f"{low:.0f}–{high:.0f} µs | {row['replay_us']:.1f} µs |")
    print("\n| torch.profiler starts | alone: status | kernels, again | stacks: status | "
          "kernels, again |\n| --- | --- | --- | --- | --- |")
    for case in PROFILER_CASES:
        cells = []
        for side in ("alone", "stacks"):
            row = results[f"profiler-{case}-{side}"]
            cells += [str(row["status"]),
                      f"{row['kernels']}, {row['again']}" if "kernels" in row
                      else row.get("output", "")[-300:].replace("\n", " ")]
        print(f"| {case} a capture | {' | '.join(cells)} |")
    for name, row in results.items():
        if row["status"] != 0:
            print(f"\n{name} ended with {row['status']}: {row.get('output', '')}")


if __name__ == "__main__":
    sys.exit(main())
