"""Measurement 1 without PyTorch: a program of empty kernels."""

import collections
import ctypes
import statistics
import time

from stack_probe_library import Probe
from stack_probe_results import paired


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
