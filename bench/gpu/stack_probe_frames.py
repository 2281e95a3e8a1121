"""Measurements 2, 3 and 7: Python frames, native frames, and the modules that own a launch."""

import collections
import pathlib
import statistics

from stack_probe_library import (HASH_LOCALS, HASH_MODULES, HITS, KEEP, MISSES, NATIVE, Probe,
                                 WALK)
from stack_probe_loads import LOADS, import_torch, kept
from stack_probe_results import quantiles

END_OF_CHAIN = ("64 frames", "null", "outside the stack", "not ascending", "unaligned")


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
