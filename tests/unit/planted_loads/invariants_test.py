#!/usr/bin/env python3
"""No report says what cannot be: checks every report of recorded and of generated loads.

    invariants_test.py UTLZ [MAKE_LOADS RECORDING] [PROFILE...]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ARGUMENTS = sys.argv[1:]
NORMAL95 = 1.959964
# Of a peak: clocks are known so well.
CLOCK_TOLERANCE = 0.02
ROUNDING = 1e-6
# Findings that change the work or the clock, and so may gain more than the ladder's roofs leave.
BEYOND_THE_ROOFS = {"padding", "padded_tiles", "thermal_throttling", "unfused_elementwise",
                    "eager_beside_compiled", "bandwidth_bound_matrix"}


def report_of(utlz, profile):
    text = subprocess.run([utlz, "report", "--recompute", "--format", "json", profile], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
    return json.loads(text)


def names_in(value, name):
    """Every value of that name, however deep."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == name or (name.startswith("_") and key.endswith(name)):
                yield inner
            yield from names_in(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from names_in(inner, name)


class Checks:
    """Faults of one report."""

    def __init__(self, report):
        self.report = report
        self.faults = []

    def expect(self, condition, what):
        if not condition:
            self.faults.append(what)

    def all(self):
        for check in (self.shares, self.kernel_rates, self.kernel_sums, self.ladder, self.losses,
                      self.phases, self.levels, self.families, self.calls, self.delayed_steps,
                      self.kernels_in_steps, self.what_is_known, self.attainable):
            check()
        return self.faults

    def shares(self):
        shares = [share for share in names_in(self.report.get("devices", []), "_share")]
        shares += [share for share in names_in(self.report.get("kernels", []), "time_share")]
        for share in shares:
            self.expect(-ROUNDING <= share <= 1 + CLOCK_TOLERANCE, f"a share of {share}")

    def peaks(self):
        device = self.report["devices"][0]
        by_type = {peak["data_type"]: peak["flops_per_second_maximum_clock"]
                   for peak in device.get("peaks", [])}
        return by_type, device.get("peak_dram_bytes_per_second", 0)

    def kernel_rates(self):
        if not self.report.get("devices"):
            return
        flop_peaks, byte_peak = self.peaks()
        for kernel in self.report["kernels"]:
            time_s = kernel["time_ns"] * 1e-9
            if time_s <= 0:
                continue
            self.kernel_flops(kernel, time_s, flop_peaks)
            rate = kernel.get("dram_bytes", 0) / time_s
            error = kernel.get("dram_bytes_error", 0) / time_s
            self.expect(byte_peak <= 0 or rate - error <= byte_peak * (1 + CLOCK_TOLERANCE),
                        f"{kernel['name']} moves {rate:.3g} B/s of {byte_peak:.3g}")

    def kernel_flops(self, kernel, time_s, peaks):
        at_peak_s = 0
        margin_s = 0
        for flops in kernel.get("flops_by_type", []):
            peak = peaks.get(flops["data_type"], 0)
            # What pipes outside the tensor cores executed is a bound by itself.
            if peak > 0 and flops["data_type"] not in ("fp32", "fp64"):
                at_peak_s += flops["flops"] / peak
                margin_s += NORMAL95 * flops["flops_error"] / peak
        self.expect(at_peak_s - margin_s <= time_s * (1 + CLOCK_TOLERANCE),
                    f"{kernel['name']} needs {at_peak_s / time_s:.2f} of its time at the peak")
        may_be_none = at_peak_s <= margin_s and at_peak_s > 0
        self.expect(not may_be_none or at_peak_s + margin_s <= time_s * (1 + CLOCK_TOLERANCE),
                    f"{kernel['name']} has at most {(at_peak_s + margin_s) / time_s:.2f} of the peak")

    def kernel_sums(self):
        share = sum(kernel.get("time_share", 0) for kernel in self.report["kernels"])
        self.expect(share <= 1 + 1e-3, f"kernels have {share:.3f} of the kernels' time")
        for kernel in self.report["kernels"]:
            self.expect("bound" in kernel, f"{kernel['name']} has no bound, not even an unknown one")
            if "estimated_savings_ns" in kernel:
                self.expect(0 <= kernel["estimated_savings_ns"] <= kernel["time_ns"] * (1 + ROUNDING),
                            f"{kernel['name']} gives back more than it takes")

    def ladder(self):
        rungs = self.report.get("ladder", {}).get("rungs", [])
        for above, below in zip(rungs, rungs[1:]):
            self.expect(below["time_ns"] <= above["time_ns"] * (1 + ROUNDING),
                        f"{below['name']} takes longer than {above['name']}")
            self.expect(below.get("speedup", 1) >= 1 - ROUNDING, f"{below['name']} is no speedup")

    def losses(self):
        """Findings give back what the ladder leaves to gain, and nothing twice."""
        rungs = {rung["name"]: rung["time_ns"]
                 for rung in self.report.get("ladder", {}).get("rungs", [])}
        if "at_roofline" not in rungs:
            return
        gains = sum(finding.get("gain_per_step_ns", 0) for finding in self.report["findings"]
                    if finding["rule"] not in BEYOND_THE_ROOFS)
        left_ns = rungs["now"] - rungs["at_roofline"]
        self.expect(gains <= left_ns * (1 + 1e-3) + 1,
                    f"findings give back {gains:.4g} ns of {left_ns:.4g}")

    def phases(self):
        at_ns = None
        for phase in self.report.get("phases", []):
            if at_ns is not None:
                self.expect(abs(phase["start_ns"] - at_ns) <= 2, f"a hole before {phase['name']}")
            at_ns = phase["start_ns"] + phase["time_ns"]
            self.expect(0 <= phase.get("gpu_busy_share", 0) <= 1, f"busy share in {phase['name']}")

    def levels(self):
        steps = self.report.get("steps") or {}
        for level in steps.get("levels", []):
            if level["name"] == "step":
                self.expect(level["count"] >= steps["steps"] * 0.99,
                            "fewer steps in the run than were traced")
        self.expect(0 <= steps.get("traced_share", 0) <= 1, "traced share of the steps")

    def calls(self):
        """The prompt's step and those of the tokens are the call."""
        for level in (self.report.get("steps") or {}).get("levels", []):
            if "decode_time_mean_ns" in level:
                whole = level["prefill_time_ns"] + (level["inner"] - 1) * level["decode_time_mean_ns"]
                self.expect(abs(whole - level["time_mean_ns"]) <= 1e-6 * level["time_mean_ns"] + 1,
                            f"a call of {whole:.6g} ns and of {level['time_mean_ns']:.6g} ns")

    def delayed_steps(self):
        """What utlz did to a step does not make it slow, and is less than all of the run."""
        steps = self.report.get("steps") or {}
        delayed = steps.get("held_up", [])
        self.expect(not set(delayed) & set(steps.get("slow", [])), "a delayed step is slow")
        times = steps.get("held_up_time_ns", [])
        self.expect(len(times) == len(delayed) and all(time > 0 for time in times),
                    "delayed steps without a time")
        self.expect(sum(times) <= self.report["run"].get("wall_ns", float("inf")),
                    "utlz delayed the run for longer than it lasted")

    def kernels_in_steps(self):
        """Kernels move no more in the steps than the memory can, and only what they move at all."""
        steady_state_s = self.report.get("steady_state", {}).get("time_ns", 0) * 1e-9
        shares = [kernel.get("steady_state_share", 0) for kernel in self.report["kernels"]]
        self.expect(all(0 <= share <= 1 + ROUNDING for share in shares), "a share of the steps")
        capture = self.report.get("capture", {})
        self.expect(0 <= capture.get("steps_sampled_share", 0) <= 1, "sampled share of the steps")
        launches = sum(kernel.get("launches_traced", 0) for kernel in self.report["kernels"])
        self.expect(launches <= capture.get("launches", float("inf")),
                    f"{launches} launches in rows of kernels, {capture.get('launches')} in the run")
        if len(self.report.get("devices", [])) != 1 or steady_state_s <= 0:
            return
        device = self.report["devices"][0]
        moved = sum(kernel.get("steady_state_share", 0) * kernel.get("dram_bytes", 0)
                    * kernel.get("launches_traced", 0) / max(1, kernel.get("launches", 1))
                    for kernel in self.report["kernels"])
        peak = device.get("peak_dram_bytes_per_second", 0)
        self.expect(peak <= 0 or moved <= peak * steady_state_s * (1 + CLOCK_TOLERANCE),
                    f"kernels move {moved:.3g} bytes in {steady_state_s:.3g} s")

    def what_is_known(self):
        if self.report.get("known"):
            self.expect(self.report.get("not_known") and self.report.get("next_command"),
                        "what is known, but not what is not, or what to type")

    def attainable(self):
        rungs = {rung["name"]: rung["time_ns"]
                 for rung in self.report.get("ladder", {}).get("rungs", [])}
        attainable = self.report.get("efficiency", {}).get("attainable_hfu")
        kept = self.report.get("ladder", {}).get("time_kept_ns", 0)
        if attainable is None or "at_peak" not in rungs or kept > 0.01 * rungs["at_roofline"]:
            return
        ladder = rungs["at_peak"] / rungs["at_roofline"]
        self.expect(abs(attainable - ladder) <= 0.02, f"HFU at the rooflines is {attainable:.3f}, "
                    f"the ladder says {ladder:.3f}")

    def families(self):
        share = sum(family["time_share"] for family in self.report.get("families", []))
        self.expect(share <= 1 + 1e-3, f"families have {share:.3f} of the time")


class InvariantsTest(unittest.TestCase):
    def check(self, profile):
        faults = Checks(report_of(ARGUMENTS[0], str(profile))).all()
        self.assertEqual(faults, [], f"in the report of {pathlib.Path(profile).name}")

    def test_generated_loads(self):
        if len(ARGUMENTS) < 3:
            self.skipTest("no program that makes loads was named")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([ARGUMENTS[1], folder, ARGUMENTS[2]], check=True,
                           stdout=subprocess.PIPE)
            loads = sorted(pathlib.Path(folder).glob("*.utlz"))
            self.assertGreater(len(loads), 40)
            for load in loads:
                with self.subTest(load=load.stem):
                    self.check(load)

    def test_recorded_profiles(self):
        for profile in ARGUMENTS[2:]:
            with self.subTest(profile=profile):
                self.check(profile)

    def test_the_checks_themselves(self):
        """A report with one fault each."""
        kernel = {"name": "k", "time_ns": 1e9, "dram_bytes": 9e12,
                  "flops_by_type": [{"data_type": "bf16", "flops": 9e14, "flops_error": 9e14}]}
        faulty = {"devices": [{"peaks": [{"data_type": "bf16",
                                          "flops_per_second_maximum_clock": 1e15}],
                               "peak_dram_bytes_per_second": 4.8e12, "gpu_busy_share": 1.5}],
                  "kernels": [kernel], "findings": [{"rule": "r", "gain_per_step_ns": 9}],
                  "ladder": {"rungs": [{"name": "now", "time_ns": 5},
                                       {"name": "at_roofline", "time_ns": 6, "speedup": 0.8}]},
                  "phases": [{"name": "a", "start_ns": 0, "time_ns": 5},
                             {"name": "b", "start_ns": 9, "time_ns": 5}],
                  "steps": {"steps": 9, "slow": [4], "held_up": [4],
                            "levels": [{"name": "step", "count": 3},
                                       {"name": "call", "inner": 3, "time_mean_ns": 9e3,
                                        "prefill_time_ns": 5e3, "decode_time_mean_ns": 1e3}]},
                  "families": [{"time_share": 0.7}, {"time_share": 0.7}],
                  "run": {}, "known": "times", "steady_state": {"time_ns": 1e9},
                  "capture": {"launches": 5, "steps_sampled_share": 2}}
        kernel.update({"launches": 8, "launches_traced": 8, "steady_state_share": 1})
        # Shares, bytes and FLOPs of the kernel, FLOPs that may be none; both rungs; the gain; the
        # hole; steps; families; the call; a delayed step that is slow, and has no time; the sampled
        # share; launches; bytes in the steps; what is not known; and the bound.
        self.assertEqual(len(Checks(faulty).all()), 17)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
