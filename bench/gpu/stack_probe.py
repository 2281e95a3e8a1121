#!/usr/bin/env python3
"""What a callback at each launch costs, and which Python frames, layers and operations it can read.

    stack_probe.py --output DIR [--only 1 2 3 4 5 6 7] [--names NAME...]

Compiles stack_probe.c with gcc and takes these measurements on a real GPU, each in a process of its
own with a time limit:

1  an empty CUPTI callback at each launch: its cost, what stays when it is gone, for each libcupti
   on the machine; which calls see which kernels; torch.profiler beside it
2  the walk over the launching thread's Python frames inside it: frames, time, distinct stacks
3  native frames: how far frame pointers lead
4  new graph nodes during a capture: their Python frames, their numbers in records of later replays;
   what stays; torch.profiler before, during and after
5  torch.compile: whether a launch's frame lies in a file that Inductor generated, under a comment
   that names its operations
6  PyTorch's sequence number at forward launches against the autograd node's at backward launches
7  the modules that own a launch, from the frames of torch.nn.Module's call

Each row is one line of DIR/results.jsonl and is printed; each process's output is kept in
DIR/NAME.log; --names runs those with these names alone. Walks need CPython 3.12 on x86-64. Exits with 77 where there is no GPU or no torch,
and with 1 where a measurement failed.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import glob
import importlib.util
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
WORKLOADS = HERE.parent / "workloads"
WALK, HASH_MODULES, HASH_LOCALS, KEEP, NATIVE, SEQUENCE = 1, 2, 4, 8, 16, 32
CALLBACKS, LAUNCHES, NODES, RECORDS, CODES, WALKS, HITS, MISSES = range(8)
CODE_TABLE, WALK_NS, WALK_FRAMES, FRAMES, RETURNS = 4, 5, 6, 7, 8
ACCUMULATE = 2**64 - 1  # the number of a node that accumulates a gradient
END_OF_CHAIN = ("64 frames", "null", "outside the stack", "not ascending", "unaligned")
GRAPH_LAUNCHES = (514, 515)
# Copies of libcupti without these are too old for the probe.
NEEDED_OF_CUPTI = (b"\0cuptiGetGraphNodeId\0", b"\0cuptiGetGraphId\0")


class Frame(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint64), ("first_local", ctypes.c_uint64),
                ("offset", ctypes.c_int32), ("owner", ctypes.c_uint8),
                ("is_cell", ctypes.c_uint8), ("has_local", ctypes.c_uint8),
                ("unused", ctypes.c_uint8)]


class Launch(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("time_ns", "sequence", "node",
                                                     "node_sequence")] + [
        (name, ctypes.c_uint32) for name in
        ("domain", "id", "correlation_id", "thread", "has_python", "frames", "first_frame",
         "returns", "first_return", "native_end", "native_ns")] + [("symbol", ctypes.c_char * 100)]


class Node(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64), ("original_id", ctypes.c_uint64)] + [
        (name, ctypes.c_uint32) for name in
        ("cloned", "graph_id", "original_graph_id", "type", "thread", "has_python", "frames",
         "first_frame")]


class Record(ctypes.Structure):
    _fields_ = [("graph_node_id", ctypes.c_uint64), ("start", ctypes.c_uint64),
                ("end", ctypes.c_uint64), ("kind", ctypes.c_uint32),
                ("correlation_id", ctypes.c_uint32), ("graph_id", ctypes.c_uint32),
                ("unused", ctypes.c_uint32), ("name", ctypes.c_char * 100)]


class Code(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint64), ("first_line", ctypes.c_int32),
                ("line_table_bytes", ctypes.c_uint32), ("file", ctypes.c_char * 256),
                ("name", ctypes.c_char * 128), ("line_table", ctypes.c_uint8 * 16384)]


TABLES = {LAUNCHES: Launch, NODES: Node, RECORDS: Record, CODE_TABLE: Code}


class Probe:
    """The library, and what it has kept."""

    def __init__(self, arguments):
        self.library = ctypes.CDLL(str(arguments.library))
        self.library.probe_table.restype = ctypes.c_void_p
        self.library.probe_count.restype = ctypes.c_ulong
        self.library.probe_clock_ns.restype = ctypes.c_uint64
        self.cupti_path = arguments.cupti
        self.code_cache = {}
        if self.library.probe_open() != 0:
            raise MemoryError("the tables of the probe")

    def open_cupti(self):
        """The copy that PyTorch has loaded, where it has: never two in one process."""
        with open("/proc/self/maps", encoding="utf-8") as maps:
            loaded = [line.split()[-1] for line in maps if "/libcupti.so" in line]
        path = loaded[0] if loaded else self.cupti_path
        self.check(f"dlopen of {path}", self.library.probe_open_cupti(path.encode()))
        return self.library.probe_cupti_version()

    def open_python(self):
        if sys.version_info[:2] != (3, 12) or platform.machine() != "x86_64":
            raise RuntimeError("the walk knows CPython 3.12 on x86-64 only")
        codes = [0, 0]
        if "torch" in sys.modules:
            module = sys.modules["torch"].nn.Module
            codes = [id(function.__code__) for function in
                     (getattr(module, "_wrapped_call_impl", module._call_impl), module._call_impl)]
        self.check("CPython's symbols", self.library.probe_open_python(
            *(ctypes.c_uint64(code) for code in codes)))

    @staticmethod
    def check(what, status):
        if status != 0:
            raise RuntimeError(f"{what}: {status}")

    def subscribe(self, empty=False):
        self.check("cuptiSubscribe", self.library.probe_subscribe(int(empty)))

    def unsubscribe(self):
        self.check("cuptiUnsubscribe", self.library.probe_unsubscribe())

    def launches_on(self, on, runtime=False):
        self.check("cuptiEnableCallback of driver launches",
                   self.library.probe_driver_callbacks(int(on)))
        if runtime:
            self.check("cuptiEnableCallback of runtime launches",
                       self.library.probe_runtime_callbacks(int(on)))

    def activity(self, on):
        self.check("cuptiActivityEnable", self.library.probe_activity(int(on)))
        if not on:
            self.check("cuptiActivityFlushAll", self.library.probe_flush())

    def mode(self, mode):
        self.library.probe_mode(mode)

    def clear(self):
        self.library.probe_clear()

    def count(self, what):
        return self.library.probe_count(what)

    def rows(self, what):
        table = TABLES[what]
        count = self.count(CODES if what == CODE_TABLE else what)
        return (table * count).from_address(self.library.probe_table(what)) if count else []

    def frames_of(self, row):
        base = self.library.probe_table(FRAMES) + row.first_frame * ctypes.sizeof(Frame)
        return (Frame * row.frames).from_address(base) if row.frames else []

    def returns_of(self, launch):
        base = self.library.probe_table(RETURNS) + launch.first_return * 8
        return (ctypes.c_uint64 * launch.returns).from_address(base) if launch.returns else []

    def codes(self):
        for code in self.rows(CODE_TABLE):
            if code.code not in self.code_cache:
                table = bytes(code.line_table[:code.line_table_bytes])
                self.code_cache[code.code] = (code.file.decode(), code.name.decode(),
                                              lines_of(code.first_line, table))
        return self.code_cache

    def place(self, frame):
        """File, line and function of a frame."""
        file, name, lines = self.code_cache.get(frame.code) or self.codes().get(
            frame.code, ("?", "?", []))
        line = next((line for begin, end, line in lines if begin <= frame.offset < end), None)
        return file, line, name

    def walks(self):
        count = self.count(WALKS)
        if not count:
            return [], []
        return (list((ctypes.c_uint32 * count).from_address(self.library.probe_table(WALK_NS))),
                list((ctypes.c_uint16 * count).from_address(self.library.probe_table(WALK_FRAMES))))

    def where(self, address, seen={}):
        if address not in seen:
            library, function = (ctypes.create_string_buffer(200) for _ in range(2))
            known = self.library.probe_where(ctypes.c_uint64(address), library, function, 200) == 0
            seen[address] = ((library.value.decode(), function.value.decode()) if known
                             else ("?", ""))
        return seen[address]


def lines_of(first_line, table):
    """(begin, end, line) of each run of instructions, decoded by Python itself."""
    def empty():
        pass
    try:
        return list(empty.__code__.replace(co_firstlineno=first_line,
                                           co_linetable=table).co_lines())
    except (ValueError, IndexError):
        return []


class Results:
    """Rows: appended to the file and printed at once."""

    def __init__(self, arguments):
        self.path, self.name = pathlib.Path(arguments.result), arguments.child

    def add(self, row, **values):
        values = {key: round(value, 3) if isinstance(value, float) else value
                  for key, value in values.items()}
        line = {"measurement": self.name, "row": row, **values}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"  {row}: " + ", ".join(f"{key}={value}" for key, value in values.items()),
              flush=True)


def quantiles(values):
    values = sorted(values)
    if not values:
        return {}
    pick = lambda share: values[min(len(values) - 1, int(share * len(values)))]
    return {"n": len(values), "least": values[0], "p10": pick(.1), "median": pick(.5),
            "p90": pick(.9), "p99": pick(.99), "most": values[-1]}


def paired(measure, switch, pairs):
    """Windows off, on, off, on, …: each one that is on against the mean of those beside it."""
    windows = [measure()]
    for _ in range(pairs):
        for on in (True, False):
            switch(on)
            windows.append(measure())
    off, on = windows[::2], windows[1::2]
    differences = sorted(on[i] - (off[i] + off[i + 1]) / 2 for i in range(pairs))
    return {"off": statistics.median(off), "on": statistics.median(on),
            "difference": statistics.median(differences),
            "difference_p25": differences[pairs // 4],
            "difference_p75": differences[3 * pairs // 4], "pairs": pairs,
            "off_first": off[0], "off_last": off[-1]}


# 1: a program of empty kernels without PyTorch


class EmptyKernels:
    LAUNCHES, NODES = 500, 500

    def __init__(self, probe, cubin):
        self.probe = probe
        library = probe.library
        Probe.check("CUDA", library.probe_open_cuda(cubin.encode()))
        Probe.check("a graph", library.probe_make_graph(self.NODES))

    def launch_ns(self, batches=10):
        """Of one launch, on the launching thread."""
        took, times = ctypes.c_uint64(), []
        for _ in range(batches):
            Probe.check("launches", self.probe.library.probe_launches(self.LAUNCHES,
                                                                      ctypes.byref(took)))
            times.append(took.value / self.LAUNCHES)
        return statistics.median(times)

    def graph_ns(self, replays=10):
        """Of the launch of a graph; of a node until its end."""
        launched, ended, rows = ctypes.c_uint64(), ctypes.c_uint64(), []
        for _ in range(replays):
            Probe.check("a replay", self.probe.library.probe_replay(ctypes.byref(launched),
                                                                    ctypes.byref(ended)))
            rows.append((launched.value, ended.value / self.NODES))
        return [statistics.median(column) for column in zip(*rows)]

    def state(self, batches=100):
        launch = self.launch_ns(batches)
        graph, node = self.graph_ns(batches)
        return {"launch_ns": launch, "graph_launch_ns": graph, "graph_node_ns": node}


def native(arguments, results):
    probe = Probe(arguments)
    program = EmptyKernels(probe, arguments.cubin)
    program.state(200)  # warm
    note = {"cupti": arguments.cupti or "none"}

    def add(row, **values):
        results.add(row, **note, **values)

    add("never loaded", **program.state())
    add("never loaded, again", **program.state())
    if not arguments.cupti:
        for i in range(6):
            add(f"control {i}", **program.state())
        return
    note["version"] = probe.open_cupti()
    add("loaded", **program.state())
    begin = time.perf_counter_ns()
    probe.subscribe(empty=True)
    add("the first cuptiSubscribe", took_us=(time.perf_counter_ns() - begin) / 1e3)
    add("subscribed, no callback on", **program.state())
    probe.launches_on(True)
    add("empty callbacks on", **program.state())
    probe.launches_on(False)
    add("callbacks off, still subscribed", **program.state())
    probe.unsubscribe()
    add("unsubscribed", **program.state())
    native_windows(probe, program, add)


def native_windows(probe, program, add):
    def subscribe(on):
        if on:
            probe.subscribe(empty=True)
            probe.launches_on(True)
        else:
            probe.launches_on(False)
            probe.unsubscribe()

    def all_pairs(row, switch):
        add(row + ", a launch (ns)", **paired(program.launch_ns, switch, 12))
        add(row + ", a graph's launch (ns)", **paired(lambda: program.graph_ns()[0], switch, 12))
        add(row + ", a graph's node (ns)", **paired(lambda: program.graph_ns()[1], switch, 12))

    all_pairs("windows of a subscription with callbacks", subscribe)
    probe.subscribe(empty=True)
    all_pairs("windows of callbacks under one subscription", probe.launches_on)
    probe.unsubscribe()
    times = collections.defaultdict(list)
    for _ in range(50):
        for what, act in (("subscribe", lambda: probe.subscribe(empty=True)),
                          ("enable", lambda: probe.launches_on(True)),
                          ("disable", lambda: probe.launches_on(False)),
                          ("unsubscribe", probe.unsubscribe)):
            begin = time.perf_counter_ns()
            act()
            times[what].append((time.perf_counter_ns() - begin) / 1e3)
    add("switching (us)", **{what: statistics.median(took) for what, took in times.items()})
    add("after windows of subscriptions", **program.state())
    all_pairs("windows of kernel records alone", probe.activity)
    add("after records", **program.state())
    probe.activity(True)
    all_pairs("callbacks, kernel records on all the while", subscribe)
    probe.activity(False)
    add("after records and callbacks", **program.state())
    time.sleep(1)
    add("a second later", **program.state())


# Loads that use PyTorch


def import_torch():
    import torch
    torch.manual_seed(1)
    return torch


class Decode:
    """Forward passes of 16 tokens through the GPT of bench/workloads."""

    def __init__(self, layers=12, mode="eager"):
        import gpt_decode
        import torch
        self.torch = torch
        self.load = gpt_decode.GptDecode(argparse.Namespace(layers=layers, batch=16, mode=mode))
        self.model = self.load.model

    def step(self):
        self.load.step()

    def steps_us(self, steps=20):
        """Of one step, on the launching thread; each waits for the last one's end first."""
        times = []
        for _ in range(steps):
            self.torch.cuda.synchronize()
            begin = time.perf_counter_ns()
            self.step()
            times.append((time.perf_counter_ns() - begin) / 1e3)
        return statistics.median(times)


class Train:
    """Training steps of a small GPT."""

    def __init__(self, layers=4, checkpoint=False):
        import gpt
        import torch
        self.torch, self.checkpoint = torch, checkpoint
        self.shape = gpt.GptShape(layers=layers, width=512, heads=8, context=256, vocabulary=8192)
        self.model = gpt.make_gpt(self.shape)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.tokens = torch.randint(self.shape.vocabulary, (4, 257), device="cuda")

    def forward(self):
        functional = self.torch.nn.functional
        tokens = self.tokens[:, :-1]
        if self.checkpoint:
            from torch.utils.checkpoint import checkpoint
            x = self.model.token(tokens) + self.model.position(
                self.torch.arange(tokens.shape[1], device="cuda"))
            for block in self.model.blocks:
                x = checkpoint(block, x, use_reentrant=False)
            logits = self.model.head(self.model.norm(x))
        else:
            logits = self.model(tokens)
        return functional.cross_entropy(logits.flatten(0, 1).float(), self.tokens[:, 1:].flatten())

    def step(self):
        loss = self.forward()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


class Llama:

    def __init__(self):
        import transformers_generate
        self.load = transformers_generate.Generation(
            argparse.Namespace(new_tokens=8, batch=4, prompt_tokens=32))
        self.model = self.load.model

    def step(self):
        self.load.step()


LOADS = {"decode": Decode, "train": Train, "llama": Llama,
         "checkpoint": lambda: Train(checkpoint=True)}


def kept(probe, load, torch, steps, mode=KEEP, runtime=False, warm=3):
    """Runs steps with each launch kept."""
    for _ in range(warm):
        load.step()
    torch.cuda.synchronize()
    probe.clear()
    probe.mode(mode)
    probe.subscribe()
    probe.launches_on(True, runtime)
    for _ in range(steps):
        load.step()
    torch.cuda.synchronize()
    probe.library.probe_driver_callbacks(0)
    if runtime:
        probe.library.probe_runtime_callbacks(0)
    probe.unsubscribe()
    probe.mode(0)
    return list(probe.rows(LAUNCHES))


def torch_hook(arguments, results):
    """Measurement 1 in PyTorch: small kernels and an eager decode."""
    torch = import_torch()
    probe = Probe(arguments)
    small = torch.zeros(1, device="cuda")
    decode, graph = Decode(), Decode(mode="graph")

    def add_ns():
        times = []
        for _ in range(10):
            torch.cuda.synchronize()
            begin = time.perf_counter_ns()
            for _ in range(300):
                small.add_(1)
            times.append((time.perf_counter_ns() - begin) / 300)
        return statistics.median(times)

    def state(row):
        results.add(row, add_ns=add_ns(), decode_us=decode.steps_us(100),
                    graph_launch_us=graph.steps_us(100))

    state("warming")
    state("never subscribed")
    state("never subscribed, again")
    results.add("libcupti", path=arguments.cupti, version=probe.open_cupti())
    probe.open_python()

    def switch(mode, empty=False):
        def switch_it(on):
            if on:
                probe.mode(mode)
                probe.subscribe(empty)
                probe.launches_on(True)
            else:
                probe.launches_on(False)
                probe.unsubscribe()
                probe.mode(0)
        return switch_it

    cases = (("empty", switch(0, True)), ("counted", switch(0)), ("walk", switch(WALK)),
             ("walk with modules", switch(WALK | HASH_MODULES)))
    for activity in (False, True):
        if activity:
            probe.activity(True)
        beside = ", kernel records on all the while" if activity else ""
        for what, act in cases:
            probe.clear()
            results.add(f"{what}: add_ (ns){beside}", **paired(add_ns, act, 8))
            results.add(f"{what}: decode step (us){beside}", **paired(decode.steps_us, act, 12))
            results.add(f"{what}: graph launch (us){beside}", **paired(graph.steps_us, act, 8))
            results.add(f"{what}: callbacks{beside}", callbacks=probe.count(CALLBACKS),
                        walks=probe.count(WALKS))
        if activity:
            probe.activity(False)
            results.add("kernel records alone: decode step (us)",
                        **paired(decode.steps_us, probe.activity, 12))
        state("after, with records" if activity else "after, no records yet")


def coverage(arguments, results):
    """Which calls a kernel's number belongs to."""
    torch = import_torch()
    probe = Probe(arguments)
    probe.open_cupti()
    probe.open_python()
    for name in ("decode", "train"):
        load = LOADS[name]()
        for what, runtime in (("driver calls", False), ("driver and runtime calls", True)):
            load.step()
            torch.cuda.synchronize()
            probe.library.probe_keep_records(1)
            kept(probe, load, torch, 1)  # the first subscription comes before the records
            probe.activity(True)
            launches = kept(probe, load, torch, 3, KEEP, runtime, warm=0)
            probe.activity(False)
            records = [record for record in probe.rows(RECORDS) if record.kind == 10]
            by_domain = {domain: {launch.correlation_id for launch in launches
                                  if launch.domain == domain} for domain in (1, 2)}
            joined = {domain: sum(record.correlation_id in numbers for record in records)
                      for domain, numbers in by_domain.items()}
            results.add(f"{name}, {what}", records=len(records), launches=len(launches),
                        joined_with_driver=joined[1], joined_with_runtime=joined[2],
                        ids=dict(collections.Counter(f"{launch.domain}:{launch.id}"
                                                     for launch in launches)))


def profiled(torch, act, cpu=True):
    """Kernels that torch.profiler sees, or how it failed."""
    from torch.profiler import ProfilerActivity, profile
    try:
        activities = [ProfilerActivity.CUDA] + ([ProfilerActivity.CPU] if cpu else [])
        with profile(activities=activities) as profiler:
            for _ in range(3):
                act()
            torch.cuda.synchronize()
        return sum(event.device_type == torch.autograd.DeviceType.CUDA
                   for event in profiler.events())
    except Exception as error:  # whatever it says is the result
        return f"{type(error).__name__}: {error}"


def beside_profiler(arguments, results):
    """torch.profiler beside a subscription; arguments.case says in which order."""
    torch = import_torch()
    probe = Probe(arguments)
    decode = Decode(layers=2)
    for _ in range(3):
        decode.step()
    probe.open_cupti()
    probe.open_python()
    probe.mode(0)

    def subscribed(row):
        status = probe.library.probe_subscribe(0)
        if status == 0:
            probe.clear()
            enabled = probe.library.probe_driver_callbacks(1)
            decode.step()
            results.add(row, subscribe=status, enable=enabled, callbacks=probe.count(CALLBACKS))
        else:
            results.add(row, subscribe=status)
        return status == 0

    def gone():
        probe.library.probe_driver_callbacks(0)
        results.add("unsubscribe", status=probe.library.probe_unsubscribe())

    def profile_it(row):
        results.add(row, kernels=profiled(torch, decode.step))

    if arguments.case == "none":
        profile_it("profiler, nobody else")
        profile_it("profiler again")
    elif arguments.case == "before":  # the profiler's first run comes before our subscription
        profile_it("profiler first")
        if subscribed("subscribed after the profiler"):
            gone()
        profile_it("profiler after our subscription")
    elif arguments.case == "inside":  # we subscribe while the profiler runs
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiler:
            decode.step()
            if subscribed("subscribed while the profiler runs"):
                gone()
            decode.step()
            torch.cuda.synchronize()
        results.add("that profiler's kernels", kernels=sum(
            event.device_type == torch.autograd.DeviceType.CUDA for event in profiler.events()))
        profile_it("profiler afterwards")
    elif arguments.case == "during":  # the profiler's first run comes while we are subscribed
        if subscribed("subscribed first"):
            profile_it("profiler while we are subscribed")
            gone()
        profile_it("profiler after our subscription")
        profile_it("profiler again")
    elif arguments.case == "after":
        if subscribed("subscribed first"):
            gone()
        profile_it("profiler after our subscription")


# 2, 3, 7: frames


def walk(arguments, results):
    torch = import_torch()
    probe = Probe(arguments)
    probe.open_cupti()
    probe.open_python()
    clock_ns = probe.library.probe_clock_ns(10000)
    results.add("clock pair", ns=clock_ns)
    load = LOADS[arguments.case]()
    steps = 1 if arguments.case == "llama" else 10
    launches = kept(probe, load, torch, steps)
    threads = collections.Counter(launch.thread for launch in launches)
    results.add("launches", steps=steps, launches=len(launches),
                threads=sorted(threads.values(), reverse=True),
                without_frames=sum(launch.frames == 0 for launch in launches),
                without_thread_state=sum(not launch.has_python for launch in launches))
    results.add("frames a launch", **quantiles([launch.frames for launch in launches]))
    distinct(probe, launches, results, steps, import_torch().nn.Module)
    deepest = max(launches, key=lambda launch: launch.frames)
    results.add("the deepest", frames=short(probe, deepest))
    for what, mode in (("code and instruction", WALK),
                       ("and modules", WALK | HASH_MODULES),
                       ("and every first local", WALK | HASH_LOCALS)):
        kept(probe, load, torch, steps, mode, warm=0)
        walk_ns, frames = probe.walks()
        net = [max(0, took - clock_ns) for took in walk_ns]
        hits, misses = probe.count(HITS), probe.count(MISSES)
        results.add(f"walk, {what} (ns, clock taken off)", **quantiles(net),
                    mean_frames=statistics.mean(frames) if frames else 0,
                    ns_a_frame=sum(net) / max(1, sum(frames)),
                    cache_hits=hits, cache_misses=misses,
                    hit_rate=hits / max(1, hits + misses))


def short(probe, row):
    return [f"{pathlib.Path(file).name}:{line} {name}"
            for file, line, name in map(probe.place, probe.frames_of(row))]


def distinct(probe, launches, results, steps, module):
    calls = {id(module._call_impl.__code__),
             id(getattr(module, "_wrapped_call_impl", module._call_impl).__code__)}
    ways = {"code and instruction": lambda frame: (frame.code, frame.offset),
            "and modules": lambda frame: (frame.code, frame.offset,
                                          frame.first_local if frame.code in calls else 0),
            "and every first local": lambda frame: (frame.code, frame.offset, frame.first_local)}
    for what, key in ways.items():
        stacks = [tuple(map(key, probe.frames_of(launch))) for launch in launches]
        results.add(f"distinct stacks, {what}", stacks=len(set(stacks)), launches=len(stacks),
                    steps=steps, launches_a_step=len(stacks) / steps)


def frame_pointers(arguments, results):
    torch = import_torch()
    probe = Probe(arguments)
    probe.open_cupti()
    probe.open_python()
    for name in ("decode", "train"):
        launches = kept(probe, LOADS[name](), torch, 3, KEEP | NATIVE)
        results.add(f"{name}, return addresses", **quantiles([one.returns for one in launches]))
        results.add(f"{name}, walk (ns)", **quantiles([one.native_ns for one in launches]))
        results.add(f"{name}, end of chain", **collections.Counter(
            END_OF_CHAIN[one.native_end] for one in launches))
        chains = collections.Counter()
        reached = collections.Counter()
        for launch in launches:
            libraries = [probe.where(address)[0] for address in probe.returns_of(launch)]
            chains[" > ".join(one for i, one in enumerate(libraries)
                              if i == 0 or libraries[i - 1] != one)] += 1
            for part in ("libcuda", "libcudart", "libtorch", "python", "?"):
                reached[part] += any(part in one for one in libraries)
        results.add(f"{name}, launches whose chain has an address in", launches=len(launches),
                    **reached)
        results.add(f"{name}, addresses before the first that no library has", **quantiles(
            [next((i for i, one in enumerate(probe.returns_of(launch))
                   if probe.where(one)[0] == "?"), launch.returns) for launch in launches]))
        for chain, count in chains.most_common(5):
            results.add(f"{name}, libraries in turn", launches=count, chain=chain)
        longest = max(launches, key=lambda one: one.returns)
        results.add(f"{name}, the longest chain",
                    chain=[":".join(probe.where(one)) for one in probe.returns_of(longest)])


def modules(arguments, results):
    torch = import_torch()
    probe = Probe(arguments)
    probe.open_cupti()
    probe.open_python()
    load = LOADS[arguments.case]()
    names = {id(module): name or "(outermost)" for name, module in load.model.named_modules()}
    module = torch.nn.Module
    kinds = {id(module._call_impl.__code__): "_call_impl"}
    if hasattr(module, "_wrapped_call_impl"):
        kinds[id(module._wrapped_call_impl.__code__)] = "_wrapped_call_impl"
    launches = kept(probe, load, torch, 1 if arguments.case == "llama" else 3)
    counts, paths = collections.Counter(), collections.Counter()
    module_frames = []
    for launch in launches:
        frames = list(probe.frames_of(launch))
        found = []
        for frame in frames:
            kind = kinds.get(frame.code)
            if kind is None:
                continue
            known = frame.first_local in names
            counts[f"{kind}: {'cell' if frame.is_cell else 'plain'},"
                   f" {'a module' if known else 'no module'}"] += 1
            if known and kind == "_wrapped_call_impl":
                found.append(names[frame.first_local])
        module_frames.append(len(found))
        counts["launches with frames"] += bool(frames)
        counts["launches with a module"] += bool(found)
        paths[found[0] if found else "(none)"] += 1
        if not found and frames:
            place = probe.place(frames[0])
            counts["without: " + f"{pathlib.Path(place[0]).name}:{place[1]} {place[2]}"] += 1
    share = counts["launches with a module"] / max(1, len(launches))
    results.add(f"{arguments.case}", launches=len(launches), share_with_module=share,
                **dict(counts.most_common(16)))
    results.add(f"{arguments.case}, module frames a launch", **quantiles(module_frames))
    results.add(f"{arguments.case}, innermost modules", paths=dict(paths.most_common(12)),
                distinct=len(paths))


# 4: captures


def capture(arguments, results):
    torch = import_torch()
    probe = Probe(arguments)
    decode = Decode()
    before = Decode(mode="graph")  # captured without us

    def state(row, **graphs):
        results.add(row, **{f"{name}_{what}_us": value for name, graph in graphs.items()
                            for what, value in replay_us(torch, graph).items()})

    graph = before.load.graph
    replay_us(torch, graph)
    state("never subscribed", first=graph)
    plain_us = statistics.median(capture_us(torch, decode)[1] for _ in range(3))
    results.add("a capture without us", took_us=plain_us)
    results.add("libcupti", version=probe.open_cupti())
    probe.open_python()
    probe.mode(KEEP)
    probe.clear()
    probe.subscribe()
    Probe.check("cuptiEnableCallback of graph nodes", probe.library.probe_node_callbacks(1))
    kept_graph, took = capture_us(torch, decode)
    after_capture = probe.count(NODES)
    kept_graph.replay()
    torch.cuda.synchronize()
    rows = list(probe.rows(NODES))
    # A second one, for its time alone.
    another, took_again = capture_us(torch, decode)
    probe.library.probe_node_callbacks(0)
    probe.unsubscribe()
    probe.mode(0)
    created = [row for row in rows if not row.cloned]
    cloned = [row for row in rows if row.cloned]
    results.add("a capture under callbacks", took_us=took, again_us=took_again,
                callbacks_in_capture=after_capture, created=len(created), cloned=len(cloned),
                types=dict(collections.Counter(row.type for row in created)))
    results.add("created nodes", with_frames=sum(row.frames > 0 for row in created),
                with_number=sum(row.id != 0 for row in created),
                threads=len({row.thread for row in created}),
                **quantiles([row.frames for row in created]))
    origins = {row.id: row.original_id for row in cloned}
    created_ids = {row.id for row in created}
    results.add("cloned nodes",
                of_a_created_one=sum(one in created_ids for one in origins.values()),
                graphs=sorted({(row.original_graph_id, row.graph_id) for row in cloned})[:8],
                example=[f"{row.original_id:#x} -> {row.id:#x}" for row in cloned[:3]],
                created_example=[f"{row.id:#x} in graph {row.graph_id}" for row in created[:3]])
    by_place = collections.Counter(
        (row.graph_id, (short(probe, row) or ["no frames"])[0].split()[-1], row.id in origins)
        for row in created)
    for (graph_id, innermost, is_clone), count in by_place.most_common(20):
        results.add("created nodes by graph and innermost function", nodes=count, graph=graph_id,
                    innermost=innermost, number_is_a_clones=is_clone)
    first_seen = {}
    for row in created:
        first_seen.setdefault(row.id, row)
    sources = [first_seen.get(original) for original in origins.values()]
    results.add("originals of clones", clones=len(sources),
                known=sum(source is not None for source in sources),
                with_the_models_frames=sum(
                    source is not None and any("Gpt.forward" in place
                                               for place in short(probe, source))
                    for source in sources))
    if created:
        example = created[len(created) // 2]
        results.add("a node's frames", frames=short(probe, example)[:14])
    state("unsubscribed", first=graph, kept=kept_graph, another=another)
    replayed_records(probe, torch, kept_graph, created_ids, origins, results, "kept")
    replayed_records(probe, torch, graph, created_ids, origins, results, "captured before us")
    state("after records", first=graph, kept=kept_graph)
    results.add("profiler afterwards", kernels=profiled(torch, kept_graph.replay))


def replayed_records(probe, torch, graph, created, origins, results, what):
    probe.clear()
    probe.library.probe_keep_records(1)
    probe.activity(True)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    probe.activity(False)
    records = [record for record in probe.rows(RECORDS) if record.kind == 10]
    nodes = [record.graph_node_id for record in records]
    results.add(f"records of replays, {what}", records=len(records),
                with_node=sum(node != 0 for node in nodes),
                is_created=sum(node in created for node in nodes),
                is_cloned=sum(node in origins for node in nodes),
                reaches_created=sum(node in created or origins.get(node) in created
                                    for node in nodes),
                example=[f"{node:#x}" for node in nodes[:3]])


def capture_us(torch, decode):
    graph = torch.cuda.CUDAGraph()
    decode.step()
    torch.cuda.synchronize()
    begin = time.perf_counter_ns()
    with torch.inference_mode(), torch.cuda.graph(graph):
        decode.load._forward()
    return graph, (time.perf_counter_ns() - begin) / 1e3


def replay_us(torch, graph, replays=300):
    rows = []
    for _ in range(replays):
        begin = time.perf_counter_ns()
        graph.replay()
        launched = time.perf_counter_ns()
        torch.cuda.synchronize()
        rows.append((launched - begin, time.perf_counter_ns() - begin))
    launch, step = (statistics.median(column) / 1e3 for column in zip(*rows))
    return {"launch": launch, "step": step}


def capture_beside_profiler(arguments, results):
    """torch.profiler started before, during or after a capture that we watch."""
    torch = import_torch()
    probe = Probe(arguments)
    decode = Decode(layers=2)
    decode.step()
    probe.open_cupti()
    probe.open_python()
    probe.mode(KEEP)
    from torch.profiler import ProfilerActivity, profile
    activities = [ProfilerActivity.CUDA, ProfilerActivity.CPU]

    def watched():
        status = probe.library.probe_subscribe(0)
        enabled = probe.library.probe_node_callbacks(1) if status == 0 else None
        graph, _ = capture_us(torch, decode)
        if status == 0:
            probe.library.probe_node_callbacks(0)
            probe.library.probe_unsubscribe()
        results.add("a watched capture", subscribe=status, enable=enabled,
                    nodes=probe.count(NODES))
        return graph

    def kernels(profiler):
        return sum(event.device_type == torch.autograd.DeviceType.CUDA
                   for event in profiler.events())

    if arguments.case == "before":
        with profile(activities=activities) as profiler:
            decode.step()
            graph = watched()
            graph.replay()
            torch.cuda.synchronize()
        results.add("the profiler around it", kernels=kernels(profiler))
    elif arguments.case == "during":
        results.add("subscribe", status=probe.library.probe_subscribe(0),
                    enable=probe.library.probe_node_callbacks(1))
        graph = torch.cuda.CUDAGraph()
        profiler = profile(activities=activities)
        torch.cuda.synchronize()
        try:
            profiler.start()
            with torch.inference_mode(), torch.cuda.graph(graph):
                decode.load._forward()
        finally:
            probe.library.probe_node_callbacks(0)
            status = probe.library.probe_unsubscribe()
        graph.replay()
        torch.cuda.synchronize()
        profiler.stop()
        results.add("the profiler that began under our subscription", kernels=kernels(profiler),
                    nodes=probe.count(NODES), unsubscribe=status)
    else:
        graph = watched()
    results.add("a profiler afterwards", kernels=profiled(torch, graph.replay))
    results.add("and again", kernels=profiled(torch, decode.step))


# 5: torch.compile

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


# 6: forward and backward


def sequence_offset(torch):
    """Where a node has its number: every word that equals `_sequence_nr()` of all nodes."""
    x = torch.zeros(4, 4, device="cuda", requires_grad=True)
    for _ in range(37):
        y = (x @ x).relu().sum()
    outputs = [x * 2, (x @ x), (x + 1).relu(), y]
    # A node's Python object: a reference count, a type, then a std::shared_ptr.
    kept_alive = [one.grad_fn for one in outputs]
    nodes = [(ctypes.c_uint64.from_address(id(one) + 16).value, one._sequence_nr(), one.name())
             for one in kept_alive]
    words = [list((ctypes.c_uint64 * 16).from_address(node)) for node, _, _ in nodes]
    found = [8 * at for at in range(16)
             if all(words[i][at] == number for i, (_, number, _) in enumerate(nodes))]
    return found, [{"name": name, "number": number,
                    "words": [f"{word:#x}" for word in words[i][:12]]}
                   for i, (_, number, name) in enumerate(nodes)]


def graph_names(loss):
    """Names of the nodes below a loss, by number."""
    names, waiting, seen = collections.defaultdict(set), [loss.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        names[node._sequence_nr()].add(node.name())
        waiting.extend(parent for parent, _ in node.next_functions)
    return names


def sequence(arguments, results):
    torch = import_torch()
    probe = Probe(arguments)
    probe.open_cupti()
    probe.open_python()
    offsets, examples = sequence_offset(torch)
    results.add("a node's number lies at", offsets=offsets)
    for example in examples[:2]:
        results.add("a node's words", **example)
    path = pathlib.Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    missing = probe.library.probe_open_torch(str(path).encode(),
                                             ctypes.c_uint64(offsets[0] if offsets else 0))
    results.add("symbols", peek=not missing & 1, get_current_node=not missing & 2, status=missing)
    if missing:
        symbols = subprocess.run(["nm", "-DC", str(path)], capture_output=True, text=True,
                                 check=False).stdout.splitlines()
        wanted = re.compile(r"current_node|sequence_number|current_graph_task|evaluating_node")
        results.add("exported", symbols=[one[17:] for one in symbols if wanted.search(one)][:30])
    load = LOADS[arguments.case]()
    for _ in range(3):
        load.step()
    names = graph_names(load.forward())
    torch.cuda.synchronize()
    main_thread = __import__("threading").get_native_id()

    class OneStep:
        def step(self):
            loss = load.forward()
            self.names = graph_names(loss)
            loss.backward()
            load.optimizer.step()
            load.optimizer.zero_grad()

    one = OneStep()
    launches = kept(probe, one, torch, 1, KEEP | SEQUENCE, warm=1)
    forward = [launch for launch in launches if not launch.node]
    backward = [launch for launch in launches if launch.node]
    results.add("launches", of_no_node=len(forward), of_a_node=len(backward),
                threads_of_nodes=len({launch.thread for launch in backward}),
                on_the_main_thread=sum(launch.thread == main_thread for launch in launches),
                nodes=len(one.names), node_names_example=len(names),
                with_python_frames_in_backward=sum(launch.frames > 0 for launch in backward))
    mapped(probe, forward, backward, one.names, results)


def mapped(probe, forward, backward, names, results):
    by_number = collections.defaultdict(list)
    for launch in forward:
        by_number[launch.sequence].append(launch)
    counts, examples = collections.Counter(), []
    numbers = sorted(by_number)
    for launch in backward:
        number = launch.node_sequence
        if number == ACCUMULATE:
            counts["accumulates a gradient"] += 1
            continue
        counts["the node is of the graph seen from Python"] += number in names
        if number + 1 in by_number:
            counts["a forward launch at number + 1"] += 1
        elif number in by_number:
            counts["a forward launch at number only"] += 1
        elif numbers and numbers[0] <= number <= numbers[-1]:
            counts["between forward launches"] += 1
        else:
            counts["outside of all forward launches"] += 1
        if number + 1 in by_number and len(examples) < 400:
            origin = by_number[number + 1][0]
            places = [probe.place(frame) for frame in probe.frames_of(origin)]
            examples.append({"node": sorted(names.get(number, ["?"])),
                             "backward": launch.symbol.decode()[:60],
                             "forward": origin.symbol.decode()[:60],
                             "lines": [f"{pathlib.Path(file).name}:{line}"
                                       for file, line, _ in places if "torch" not in file][:2]})
    results.add("backward launches", launches=len(backward), **counts)
    results.add("threads' numbers of forward launches", first=numbers[:1], last=numbers[-1:],
                distinct=len(numbers))
    for example in examples[::max(1, len(examples) // 8)][:8]:
        results.add("example", **example)


# A walk where there is no GPU


def pretended(arguments, results):
    """Walks calls of this machine's own Python: checks the walk without a GPU."""
    import threading
    probe = Probe(arguments)
    probe.open_python()
    probe.mode(WALK | KEEP | NATIVE)
    expected = {}

    class Owner:
        def call(self, depth):
            if depth:
                return self.call(depth - 1)
            return self.launch()

        def launch(self):
            lines = []
            frame = sys._getframe()
            while frame:
                lines.append((frame.f_code.co_filename[-255:], frame.f_code.co_qualname))
                frame = frame.f_back
            number = len(expected) + 1
            expected[number] = (lines, sys._getframe().f_lineno + 1, id(self))
            probe.library.probe_pretend_launch(number)

    def run():
        for depth in list(range(40)) * 5:
            Owner().call(depth)
        list(Owner().call(depth) for depth in (1, 2, 3))

    threads = [threading.Thread(target=run) for _ in range(4)]
    run()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bad = 0
    for launch in probe.rows(LAUNCHES):
        lines, line, owner = expected[launch.correlation_id]
        frames = list(probe.frames_of(launch))
        places = [probe.place(frame) for frame in frames]
        bad += ([(file, name) for file, _, name in places] != lines[:64] or places[0][1] != line
                or frames[0].first_local != owner)
    results.add("walks compared with Python's own", launches=probe.count(LAUNCHES), wrong=bad)
    results.add("frames", **quantiles([launch.frames for launch in probe.rows(LAUNCHES)]))
    walk_ns, frames = probe.walks()
    results.add("walk (ns)", **quantiles(walk_ns), mean_frames=statistics.mean(frames),
                clock_ns=probe.library.probe_clock_ns(10000),
                hits=probe.count(HITS), misses=probe.count(MISSES))
    if bad:
        raise RuntimeError(f"{bad} walks were wrong")


CHILDREN = {"native": native, "torch_hook": torch_hook, "coverage": coverage,
            "beside_profiler": beside_profiler, "walk": walk, "frame_pointers": frame_pointers,
            "modules": modules, "capture": capture,
            "capture_beside_profiler": capture_beside_profiler, "inductor": inductor,
            "sequence": sequence, "pretended": pretended}


def child(arguments):
    sys.path.insert(0, str(WORKLOADS))
    name = arguments.child.split(":")[0]
    CHILDREN[name](arguments, Results(arguments))
    return 0


# The parent


def has_what_is_needed(path):
    """By the names in the file: loading it would change what is measured."""
    content = pathlib.Path(path).read_bytes()
    return all(name in content for name in NEEDED_OF_CUPTI)


def copies_of_cupti():
    """PyTorch's first, then Triton's, then others, each once."""
    patterns = ["/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1?",
                "/usr/local/cuda*/targets/*/lib/libcupti.so.1?",
                "/usr/local/cuda*/lib*/libcupti.so.1?",
                "/usr/lib/x86_64-linux-gnu/libcupti.so.1?",
                "/opt/nvidia/nsight-compute/*/**/libcupti.so*",
                "/usr/local/cuda*/nsight-compute*/**/libcupti.so*",
                "/usr/lib/nsight-compute/**/libcupti.so*"]
    for path in [pathlib.Path(entry) for entry in sys.path if entry.endswith("-packages")]:
        patterns = [f"{path}/nvidia/*/lib/libcupti.so.1?",
                    f"{path}/triton/backends/nvidia/lib/cupti/libcupti.so*"] + patterns
    found, sizes = [], set()
    for pattern in patterns:
        for path in sorted(glob.glob(pattern, recursive=True)):
            size = os.stat(path).st_size
            if size not in sizes and has_what_is_needed(path):
                sizes.add(size)
                found.append(os.path.realpath(path))
    return found


def compile_probe(output):
    library = output / "libstack_probe.so"
    subprocess.run(["gcc", "-O2", "-fno-omit-frame-pointer", "-shared", "-fPIC", "-o", library,
                    HERE / "stack_probe.c", "-ldl", "-lpthread"], check=True)
    return library


def compile_kernel(output):
    """The empty kernel as machine code, where nvcc is here; else the driver compiles PTX."""
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        return ""
    source, cubin = output / "empty.cu", output / "empty.cubin"
    source.write_text('extern "C" __global__ void empty() {}\n', encoding="utf-8")
    done = subprocess.run([nvcc, "-arch=native", "-cubin", "-o", cubin, source], check=False)
    if done.returncode != 0:
        done = subprocess.run([nvcc, "-arch=sm_90", "-cubin", "-o", cubin, source], check=False)
    return str(cubin) if done.returncode == 0 else ""


def tasks(copies):
    """(measurement, name, child, case, libcupti, seconds, whether it is timed)"""
    main = copies[0] if copies else ""
    listed = [(1, "native-control", "native", "", "", 30, True)]
    for number, path in enumerate(copies[:4]):
        for again in range(2 if number == 0 else 1):
            listed.append((1, f"native-{number}-{again}", "native", "", path, 40, True))
    listed.append((1, "torch_hook", "torch_hook", "", main, 90, True))
    for case in ("decode", "train", "llama"):
        listed.append((2, f"walk-{case}", "walk", case, main, 60, True))
    listed.append((4, "capture", "capture", "", main, 60, True))
    listed += [(5, f"inductor-{case}", "inductor", case, main, 120, False)
               for case in ("default", "reduce-overhead")]
    listed.append((1, "coverage", "coverage", "", main, 60, False))
    for case in ("none", "before", "inside", "during", "after"):
        listed.append((1, f"profiler-{case}", "beside_profiler", case, main, 60, False))
    listed.append((3, "frame_pointers", "frame_pointers", "", main, 60, False))
    for case in ("before", "during", "after"):
        listed.append((4, f"capture-profiler-{case}", "capture_beside_profiler", case, main, 60,
                       False))
    for case in ("train", "checkpoint"):
        listed.append((6, f"sequence-{case}", "sequence", case, main, 60, False))
    for case in ("decode", "llama"):
        listed.append((7, f"modules-{case}", "modules", case, main, 60, False))
    return listed


class Runner:

    def __init__(self, output, library, cubin, seconds):
        self.output, self.library, self.cubin = output, library, cubin
        self.results = output / "results.jsonl"
        self.failed = []
        self.scratch = tempfile.mkdtemp(prefix="stack_probe_")
        self.end = time.monotonic() + seconds

    def __call__(self, task):
        measurement, name, what, case, cupti, limit_s, _ = task
        log = self.output / f"{name}.log"
        label = f"{what}:{name}"
        command = [sys.executable, "-X", "faulthandler", __file__, "--child", label, "--case", case,
                   "--cupti", cupti, "--library", str(self.library), "--cubin", self.cubin,
                   "--result", str(self.results)]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1",
                       "TORCHINDUCTOR_CACHE_DIR": f"{self.scratch}/torchinductor_{name}"}
        begin = time.monotonic()
        limit_s = min(limit_s, self.end - begin)
        if limit_s < 5:
            log.write_text("no time was left\n", encoding="utf-8")
            self.report(measurement, name, "not begun", 0, log)
            return
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT,
                                       env=environment, start_new_session=True)
            try:
                status = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                status = f"longer than {limit_s:.0f} s"
        self.report(measurement, name, status, time.monotonic() - begin, log)

    def report(self, measurement, name, status, took_s, log):
        text = log.read_text(encoding="utf-8", errors="replace")
        print(f"\n## {measurement}: {name} ({took_s:.1f} s, status {status})\n"
              f"{text if status == 0 and len(text) < 12000 else text[-6000:]}", flush=True)
        with open(self.results, "a", encoding="utf-8") as file:
            file.write(json.dumps({"measurement": name, "row": "ended", "status": status,
                                   "took_s": round(took_s, 1)}) + "\n")
        if status != 0:
            self.failed.append(name)


def measure(arguments):
    output = arguments.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    if arguments.pretend:
        runner = Runner(output, compile_probe(output), "", arguments.seconds)
        runner((0, "pretended", "pretended", "", "", 60, True))
        return 1 if runner.failed else 0
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU or no torch on this machine")
        return SKIPPED
    copies = copies_of_cupti()
    print("copies of libcupti:", *copies, sep="\n  ", flush=True)
    runner = Runner(output, compile_probe(output), compile_kernel(output), arguments.seconds)
    chosen = [task for task in tasks(copies)
              if (not arguments.only or task[0] in arguments.only)
              and (not arguments.names or task[1] in arguments.names)]
    for task in chosen:
        if task[-1]:
            runner(task)
    # The others are not timed and may run side by side.
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(runner, [task for task in chosen if not task[-1]]))
    print(f"\nfailed: {', '.join(runner.failed) or 'none'}; rows in {runner.results}", flush=True)
    return 1 if runner.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("stack_probe"))
    parser.add_argument("--only", type=int, nargs="*", choices=range(1, 8), help="measurements")
    parser.add_argument("--names", nargs="*", help="processes by name, as their logs have it")
    parser.add_argument("--jobs", type=int, default=4, help="untimed measurements side by side")
    parser.add_argument("--seconds", type=float, default=270, help="for everything")
    parser.add_argument("--pretend", action="store_true",
                        help="only check the walk against Python's own frames; needs no GPU")
    for hidden in ("--child", "--case", "--cupti", "--cubin", "--result"):
        parser.add_argument(hidden, default="", help=argparse.SUPPRESS)
    parser.add_argument("--library", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    return child(arguments) if arguments.child else measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
