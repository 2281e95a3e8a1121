"""Measurement 6: PyTorch's sequence numbers of forward and backward launches."""

import collections
import ctypes
import pathlib
import re
import subprocess
import threading

from stack_probe_library import KEEP, Probe, SEQUENCE
from stack_probe_loads import LOADS, import_torch, kept

ACCUMULATE = 2**64 - 1  # the number of a node that accumulates a gradient


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
    main_thread = threading.get_native_id()

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
