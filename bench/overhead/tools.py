"""Tools that can be switched on and off inside the measured process.

A tool has `start` and `stop`, both outside the timed windows, and `proof`: something that shows
that it saw the work, since a tool that sees nothing is fast.
"""

import ctypes
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from profile_frames import SAMPLES, frames


class Nothing:
    """The control: windows that differ in nothing must not differ in time."""

    def start(self):
        pass

    def stop(self):
        pass

    def proof(self):
        return None


class EmptyCupti:

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.EmptyCuptiCompletedBytes.restype = ctypes.c_uint64

    def start(self):
        if self.library.EmptyCuptiEnable() != 0:
            raise RuntimeError("the empty CUPTI consumer could not be enabled")

    def stop(self):
        self.library.EmptyCuptiDisable()

    def proof(self):
        return {"record_bytes": self.library.EmptyCuptiCompletedBytes()}


class TorchProfiler:

    def __init__(self, with_cpu):
        import torch
        self.torch = torch
        activity = torch.profiler.ProfilerActivity
        self.activities = [activity.CUDA] + ([activity.CPU] if with_cpu else [])
        self.profiler = None
        self.events = 0

    def start(self):
        self.profiler = self.torch.profiler.profile(activities=self.activities)
        self.profiler.start()

    def stop(self):
        self.profiler.stop()
        self.events += len(self.profiler.profiler.kineto_results.events())
        self.profiler = None

    def proof(self):
        return {"events": self.events}


class Proton:

    def __init__(self):
        import triton.profiler
        self.proton = triton.profiler
        self.folder = tempfile.TemporaryDirectory()
        self.session = None

    def start(self):
        if self.session is None:
            self.session = self.proton.start(os.path.join(self.folder.name, "proton"),
                                             backend="cupti")
        else:
            self.proton.activate(self.session)

    def stop(self):
        self.proton.deactivate(self.session)

    def proof(self):
        self.proton.finalize()
        path = os.path.join(self.folder.name, "proton.hatchet")
        return {"profile_bytes": os.path.getsize(path) if os.path.exists(path) else 0}


class Utlz:
    """The agent of this process, which must run under `utlz run`; off is loaded and inactive.

    Tracing alone: the sampler runs in windows of its own, so what it adds is measured by whole
    processes (overhead.py). A budget is kept over seconds: give it windows of several.
    """

    def __init__(self, budget_ppm):
        from agent_control import INACTIVE, TRACING, AgentControl
        self.states = (INACTIVE, TRACING)
        self.control = AgentControl()
        self.budget_ppm = budget_ppm
        self.stop()

    def start(self):
        if self.control.request(self.states[1], self.budget_ppm) != self.states[1]:
            raise RuntimeError("the agent does not trace; see the report of its run")

    def stop(self):
        self.control.request(self.states[0], self.budget_ppm)

    def proof(self):
        return None  # The run's own report shows the launches.


class Sampling:
    """The counters of this GPU, sampled by a collector of its own that traces nothing, without a
    budget: with one, sampling comes with tracing. Each time begins with the credit of a fresh run.

    What sampling changes once and for all (docs/measurements/sampling.md) has happened
    when the first switch has: it is in windows with and without.
    """

    def __init__(self, utlz):
        self.folder = tempfile.TemporaryDirectory()
        self.profile = pathlib.Path(self.folder.name, "sampling.utlz")
        # Its command is one that runs beside the load and uses no GPU.
        self.command = [utlz, "run", "--counters=sample", "--delay=100000", "--no-report",
                        "--overhead-budget=unlimited", "-o", str(self.profile), "--", "sleep",
                        "100000"]
        self.process = None
        self.samples_bytes = 0

    def start(self, timeout_s=20):
        self.profile.unlink(missing_ok=True)
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + timeout_s
        while not self._sampled_bytes():
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.stop()
                raise RuntimeError("no counters were sampled; see the report of a run under utlz")
            time.sleep(0.02)

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.process = None
        self.samples_bytes += self._sampled_bytes()

    def _sampled_bytes(self):
        if not self.profile.exists():
            return 0
        return sum(len(payload) for kind, _, payload in frames(self.profile) if kind == SAMPLES)

    def proof(self):
        return {"samples_bytes": self.samples_bytes}


# `utlz run --nvtx`: ranges, and the calls that launch kernels.
NVTX_TOOLS = ("utlz-default-nvtx", "utlz-unlimited-nvtx")
TOOLS = ("control", "empty-cupti", "utlz-default", "utlz-unlimited", *NVTX_TOOLS, "torch-cuda",
         "torch-cpu-cuda", "proton", "sampling")


def make_tool(name, empty_cupti_library, utlz="utlz"):
    name = name.removesuffix("-nvtx")
    return {"control": Nothing, "empty-cupti": lambda: EmptyCupti(empty_cupti_library),
            "utlz-default": lambda: Utlz(budget_ppm=10000),
            "utlz-unlimited": lambda: Utlz(budget_ppm=0),
            "torch-cuda": lambda: TorchProfiler(with_cpu=False),
            "sampling": lambda: Sampling(utlz),
            "torch-cpu-cuda": lambda: TorchProfiler(with_cpu=True), "proton": Proton}[name]()
