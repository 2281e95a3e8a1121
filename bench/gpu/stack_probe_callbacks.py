"""Measurement 1 in PyTorch: what callbacks cost, and which calls see which kernels."""

import collections
import statistics
import time

from stack_probe_library import CALLBACKS, HASH_MODULES, KEEP, Probe, RECORDS, WALK, WALKS
from stack_probe_loads import Decode, LOADS, import_torch, kept
from stack_probe_results import paired


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
