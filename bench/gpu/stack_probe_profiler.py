"""Measurement 1: torch.profiler beside a subscription."""

from stack_probe_library import CALLBACKS, Probe
from stack_probe_loads import Decode, import_torch


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
