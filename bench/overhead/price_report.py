"""What the report of one measured run claims about its own cost."""

import json
import subprocess


def find_key(value, key):
    """The value of the first such key of nested JSON."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            found = find_key(item, key)
            if found is not None:
                return found
    return None


def stated_slowdown(capture):
    """(share, ±) that the report states of what a load does over and over: of its steps where they were
    all recorded and it is more, else of the run. None where it states nothing."""
    slowdown = capture.get("slowdown") or {}
    share, steps_share = slowdown.get("share"), slowdown.get("steps_share") or 0
    if share is not None and steps_share > share and capture.get("coverage_share", 0) > 0.99:
        return steps_share, slowdown.get("steps_error_share")
    return share, slowdown.get("error_share")


def report_of(utlz, profile):
    """What the report claims about its own cost."""
    done = subprocess.run([utlz, "report", "--format", "json", str(profile)], capture_output=True,
                          text=True, check=False, timeout=60)
    if done.returncode != 0:
        return {"error": (done.stderr or "no output")[-300:]}
    summary = json.loads(done.stdout)
    capture = find_key(summary, "capture") or {}
    names = ("command", "cupti_version", "cupti_path", "driver_version", "launches", "agent",
             "agent_cost_share", "traced_ns", "end")
    processes = [{name: process.get(name) for name in names}
                 for process in find_key(summary, "processes") or []]
    share, error_share = stated_slowdown(capture)
    return {"slowdown_share": share, "slowdown_error_share": error_share,
            "slowdown_measured": (capture.get("slowdown") or {}).get("measured"),
            "windows": capture.get("measured_cost_windows"),
            "traced_share": capture.get("coverage_share"), "launches": capture.get("launches"),
            "budget_share": capture.get("overhead_budget_share"), "capture": capture,
            "processes": processes, "notices": find_key(summary, "notices")}
