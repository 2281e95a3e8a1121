#!/usr/bin/env python3
"""What CUPTI costs within one process: before it is loaded and after, and after windows of records.

    price_series.py before-after LOAD --presence LIBRARY --cupti COPY --mode none|subscribed|… \\
                    --seconds 5 --result FILE
    price_series.py after-window LOAD --presence LIBRARY --cupti COPY --seconds 60 --result FILE

LIBRARY is presence_cupti.c as a library. before-after measures pieces of the load, does what the
mode says, and measures again; "recorded" also records one second of the load in between, and
switches that off. after-window repeats: a window of 50 ms of records, and then 2 s in which every
batch of launches is timed. Each way to switch has its turn in every round, WINDOWS says which.
"""

import argparse
import ctypes
import gc
import json
import os
import pathlib
import sys
import time

import price_loads
from price_reference import Reference, measure_pieces

WINDOW_S = 0.05
BATCH = 400
BATCH_REFERENCE = 0.03  # of the reference's work, after each batch
RECORDED_S = 1.0
# How a window is switched, which flush follows (None: none), and launches at most in it.
WINDOWS = {"no window": (None, None, None), "context, flush 0": ("context", 0, None),
           "context, forced": ("context", 1, None), "context, no flush": ("context", None, None),
           "process, flush 0": ("process", 0, None), "process, no flush": ("process", None, None),
           "context, flush 0, 20 launches": ("context", 0, 20)}


class Presence:
    """presence_cupti.c in this process, loaded when it begins."""

    def __init__(self, library, cupti):
        self._paths = (library, cupti)
        self._library = None

    def start(self, mode):
        library, cupti = self._paths
        self._library = ctypes.CDLL(library)
        self._library.PresenceRecordedBytes.restype = ctypes.c_uint64
        check("PresenceStart", self._library.PresenceStart(cupti.encode(), mode.encode()))

    def stop(self):
        check("PresenceStop", self._library.PresenceStop())

    def window(self, on, by_context):
        check("PresenceWindow", self._library.PresenceWindow(int(on), int(by_context)))

    def flush(self, flag):
        check("PresenceFlush", self._library.PresenceFlush(flag))

    def recorded_bytes(self):
        return self._library.PresenceRecordedBytes()

    def version(self):
        return self._library.PresenceVersion() if self._library else None


def check(what, status):
    if status != 0:
        raise RuntimeError(f"{what} ended with {status}")


def repeat_for(seconds, step):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        step()


def begin_presence(presence, mode, step):
    if mode != "none":
        presence.start(mode)
    repeat_for(RECORDED_S, step)  # in each mode, so that all wait alike
    if mode != "none":
        presence.stop()


def before_after(arguments, presence):
    load = arguments.load
    step = price_loads.LOADS[load]()
    steps = price_loads.STEPS_OF_PIECE.get(load, price_loads.STEPS_OF_PIECE_ELSE)
    reference = Reference(load != "fake", arguments.reference_scale)
    for _ in range(price_loads.WARMUP.get(load, price_loads.WARMUP_ELSE)):
        step()
    repeat_for(RECORDED_S, step)
    reference.measure()
    gc.collect()
    gc.freeze()
    before = measure_pieces(step, steps, arguments.seconds, reference)
    begin_presence(presence, arguments.mode, step)
    after = measure_pieces(step, steps, arguments.seconds, reference)
    recorded = presence.recorded_bytes() if arguments.mode != "none" else 0
    return {"before": before, "after": after, "mode": arguments.mode, "recorded_bytes": recorded,
            "version": presence.version()}


def make_launch(load):
    """A function that launches count kernels, and one that waits for them."""
    if load == "fake":
        return (lambda count: [None for _ in range(count)]), (lambda: None)
    import torch
    one = torch.zeros(1, device="cuda")

    def launch(count):
        add = one.add_
        for _ in range(count):
            add(1)
    return launch, torch.cuda.synchronize


class AfterWindow:

    def __init__(self, arguments, presence):
        self._presence, self._after_s = presence, arguments.after_s
        self._launch, self._wait = make_launch(arguments.load)
        self._reference = Reference(arguments.load != "fake", arguments.reference_scale)

    def batches(self, seconds, most=None):
        """Seconds of each batch: [when it began, time of a launch, CPU time of a launch, CPU time of
        other threads since the last batch, CPU time of the reference]."""
        begun, batches, process = time.perf_counter(), [], time.process_time()
        thread_of_all, left = time.thread_time(), most
        while time.perf_counter() - begun < seconds:
            count = BATCH if left is None else min(BATCH, left)
            if count == 0:
                time.sleep(0.001)
                continue
            thread, begin = time.thread_time(), time.perf_counter()
            self._launch(count)
            end, thread_end = time.perf_counter(), time.thread_time()
            self._wait()
            reference = self._reference.measure(BATCH_REFERENCE)[2]
            now, now_thread = time.process_time(), time.thread_time()
            batches.append([begin - begun, (end - begin) / count, (thread_end - thread) / count,
                            now - process - (now_thread - thread_of_all), reference])
            process, thread_of_all = now, now_thread
            left = None if left is None else left - count
        return batches

    def cycle(self, name):
        by, flush, most = WINDOWS[name]
        presence, by_context = self._presence, by == "context"
        bytes_before = presence.recorded_bytes()
        begin = time.perf_counter()
        if by:
            presence.window(True, by_context)
        on = time.perf_counter()
        within = self.batches(WINDOW_S, most=most)
        off = time.perf_counter()
        if by:
            presence.window(False, by_context)
        disabled = time.perf_counter()
        if flush is not None:
            presence.flush(flush)
        flushed = time.perf_counter()
        bytes_then = presence.recorded_bytes()
        after = self.batches(self._after_s)
        return {"window": name, "within": within, "after": after,
                "switch_s": [on - begin, disabled - off, flushed - disabled],
                "bytes_at_once": bytes_then - bytes_before,
                "bytes_later": presence.recorded_bytes() - bytes_then}


def after_window(arguments, presence):
    series = AfterWindow(arguments, presence)
    series.batches(0.5)
    gc.collect()
    gc.disable()
    begun = time.perf_counter()
    never_loaded = series.batches(arguments.after_s)
    presence.start("registered")
    subscribed = series.batches(arguments.after_s)
    cycles, names = [], list(WINDOWS)
    while not cycles or time.perf_counter() - begun < arguments.seconds:
        for name in names:
            cycles.append(series.cycle(name))
        names = names[1:] + names[:1]
    return {"never_loaded": never_loaded, "subscribed": subscribed, "cycles": cycles,
            "version": presence.version()}


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", choices=("before-after", "after-window"))
    parser.add_argument("load", choices=price_loads.LOADS)
    parser.add_argument("--presence", required=True)
    parser.add_argument("--cupti", default="")
    parser.add_argument("--mode", default="none",
                        choices=("none", "subscribed", "recorded", "watching", "both"))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--after-s", type=float, default=2, help="after each window")
    parser.add_argument("--reference-scale", type=float, default=1)
    parser.add_argument("--result", required=True, type=pathlib.Path)
    arguments = parser.parse_args(words)
    presence = Presence(arguments.presence, arguments.cupti)
    series = before_after if arguments.series == "before-after" else after_window
    result = {"series": arguments.series, "load": arguments.load, "pid": os.getpid(),
              **series(arguments, presence)}
    arguments.result.write_text(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
