"""Measurement 5: whether a launch's frame lies in a file that Inductor generated."""

import collections
import os
import pathlib
import re
import shutil
import time

from stack_probe_library import KEEP, LAUNCHES, NODES, Probe
from stack_probe_loads import import_torch, kept

COMMENT = re.compile(r"Topologically Sorted Source Nodes: \[(.*?)\](?:, Original ATen: \[(.*?)\])?")


class Compiled:
    """Training steps (default) or forward passes (reduce-overhead) of one transformer block."""

    def __init__(self, mode):
        import gpt
        import torch
        self.torch, self.train = torch, mode == "default"
        shape = gpt.GptShape(layers=1, width=512, heads=8, context=256, vocabulary=8192)
        with torch.device("cuda"):
            block = torch.nn.Sequential(gpt.Block(shape), torch.nn.LayerNorm(512),
                                        torch.nn.Linear(512, 512)).to(torch.bfloat16)
        self.model = torch.compile(block, mode=None if mode == "default" else mode)
        self.input = torch.randn(4, 256, 512, device="cuda", dtype=torch.bfloat16)

    def step(self):
        if self.train:
            self.model(self.input).sum().backward()
        else:
            with self.torch.inference_mode():
                self.model(self.input)


def comment_above(file, line, seen={}):
    """Before a line of a generated file: the comment that names nodes, and the handles."""
    if file not in seen:
        try:
            seen[file] = pathlib.Path(file).read_text(encoding="utf-8").splitlines()
        except OSError:
            seen[file] = []
    lines, nodes, handles = seen[file], None, None
    for at in range(min(line or 0, len(lines)) - 1, max(-1, (line or 0) - 16), -1):
        text = lines[at].strip()
        if "Provenance debug handles" in text:
            handles = handles or text
        nodes = COMMENT.search(text)
        if nodes:
            return text, handles, lines[line - 1].strip()
        launches = ".run(" in text or text.startswith("extern_kernels.")
        if at < line - 1 and launches:
            break  # the launch before it: the comment is not ours
    return None, handles, lines[line - 1].strip() if line and line <= len(lines) else ""


def inductor(arguments, results):
    torch = import_torch()
    probe = Probe(arguments)
    probe.open_cupti()
    probe.open_python()
    cache = os.environ["TORCHINDUCTOR_CACHE_DIR"]
    begin = time.perf_counter()
    load = Compiled(arguments.case)
    load.step()
    torch.cuda.synchronize()
    results.add("compiled", took_s=time.perf_counter() - begin)
    if arguments.case == "reduce-overhead":
        probe.clear()
        probe.mode(KEEP)
        probe.subscribe()
        probe.launches_on(True)
        Probe.check("cuptiEnableCallback of graph nodes", probe.library.probe_node_callbacks(1))
        for _ in range(4):  # warms, captures, replays
            load.step()
        torch.cuda.synchronize()
        probe.library.probe_node_callbacks(0)
        probe.library.probe_driver_callbacks(0)
        probe.unsubscribe()
        nodes = [node for node in probe.rows(NODES) if not node.cloned]
        inductor_share(probe, nodes, cache, results, "nodes of its captures")
        inductor_share(probe, list(probe.rows(LAUNCHES)), cache, results,
                       "launches while it warms, captures and replays")
    launches = kept(probe, load, torch, 3)
    results.add("ids", **collections.Counter(str(launch.id) for launch in launches))
    bare = [launch for launch in launches if not launch.frames]
    results.add("launches without frames", launches=len(bare),
                threads=len({launch.thread for launch in bare}),
                without_thread_state=sum(not launch.has_python for launch in bare),
                symbols=dict(collections.Counter(launch.symbol.decode()[:80]
                                                 for launch in bare).most_common(12)))
    inductor_share(probe, launches, cache, results, "launches")


def inductor_share(probe, rows, cache, results, what):
    counts, examples, innermost = collections.Counter(), {}, collections.Counter()
    for row in rows:
        places = [probe.place(frame) for frame in probe.frames_of(row)]
        generated = next(((file, line, name) for file, line, name in places
                          if file.startswith(cache) or "torchinductor" in file), None)
        counts["with frames"] += bool(places)
        counts["in a generated file"] += generated is not None
        if places:
            innermost[f"{pathlib.Path(places[0][0]).name}:{places[0][2]}"] += 1
        if generated is None:
            if places:
                counts["not: " + " < ".join(f"{pathlib.Path(file).name}:{line}"
                                            for file, line, _ in places[:3])] += 1
            continue
        comment, handles, text = comment_above(generated[0], generated[1])
        counts["with the comment above"] += comment is not None
        counts["with handles above"] += handles is not None
        counts["generated file's " + generated[2]] += 1
        examples.setdefault(text[:40], {
            "file": generated[0][-40:], "line": generated[1], "text": text[:160],
            "comment": comment, "handles": handles,
            "frames": [f"{pathlib.Path(file).name}:{line} {name}" for file, line, name
                       in places[:6]], "symbol": getattr(row, "symbol", b"").decode()})
    results.add(what, rows=len(rows), **dict(counts.most_common(16)))
    results.add(what + ", innermost frames", **dict(innermost.most_common(8)))
    for file in {place[0] for row in rows for place in map(probe.place, probe.frames_of(row))
                 if place[0].startswith(cache)}:
        shutil.copy(file, results.path.parent)
    ordered = sorted(examples.values(), key=lambda example: example["comment"] is None)
    for example in ordered[:2] + ordered[-1:]:
        results.add(what + ", example", **example)
