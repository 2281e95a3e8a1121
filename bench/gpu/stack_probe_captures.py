"""Measurement 4: graph nodes that captures create, and records of their replays."""

import collections
import statistics
import time

from stack_probe_frames import short
from stack_probe_library import KEEP, NODES, Probe, RECORDS
from stack_probe_loads import Decode, import_torch
from stack_probe_profiler import profiled
from stack_probe_results import quantiles


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
