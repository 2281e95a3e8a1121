"""Checks the walk where there is no GPU, against Python's own frames."""

import statistics
import sys

from stack_probe_library import HITS, KEEP, LAUNCHES, MISSES, NATIVE, Probe, WALK
from stack_probe_results import quantiles


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
