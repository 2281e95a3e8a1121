"""Runs a target program under `utlz run` on the fake GPU and reads its profile back.

Every test gets a folder of its own, which is also the home folder: the fakes find what the test
arranged there. Nothing here waits for a time to pass; programs end by themselves.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from first_differences import first_differences

STAGE = pathlib.Path(os.environ["UTLZ_E2E_STAGE"])
FAKES = pathlib.Path(os.environ["UTLZ_E2E_FAKES"])
PROGRAMS = pathlib.Path(os.environ["UTLZ_E2E_PROGRAMS"])
UTLZ = STAGE / "bin" / "utlz"

# Of the build: empty, or the sanitizer with which it is several times slower and keeps what it freed.
SANITIZER = os.environ.get("UTLZ_E2E_SANITIZER", "")
# A program that hangs is a failure, not a wait: far above what any of them takes.
TIME_LIMIT_S = 600 if SANITIZER else 120


class Run:
    """What came of one `utlz run`."""

    def __init__(self, completed, profile):
        self.status = completed.returncode
        self.stdout = completed.stdout
        self.stderr = completed.stderr
        self.profile = profile
        self._report = None

    @property
    def told(self):
        """The JSON lines that the program and its children printed, in order."""
        lines = []
        for line in self.stdout.splitlines():
            if line.startswith("{"):
                lines.append(json.loads(line))
        return lines

    @property
    def expectations(self):
        return [line for line in self.told if "launches" in line]

    @property
    def expected_kernels(self):
        """Launches by mangled name, summed over all processes."""
        totals = {}
        for expectation in self.expectations:
            for name, launches in expectation["kernels"].items():
                totals[name] = totals.get(name, 0) + launches
        return totals


class EndToEndTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="utlz-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.remove_leases)
        for compared in (dict, list):
            self.addTypeEqualityFunc(compared, self.assert_same_values)

    @property
    def fake_gpu(self):
        """The UUID of this test's first device, as the fakes make it up."""
        fnv1a = 0xcbf29ce484222325
        for letter in f"{self.folder}/gpu".encode():
            fnv1a = (fnv1a ^ letter) * 0x100000001b3 % 2**64
        text = (fnv1a.to_bytes(8, "little") + bytes(range(0xf8, 0xff)) + b"\0").hex()
        return f"GPU-{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    @property
    def lease(self):
        """What the sampler locks that has this test's GPU: no XDG_RUNTIME_DIR is handed on."""
        folder = pathlib.Path("/run/utlz" if os.geteuid() == 0 else f"/tmp/utlz-{os.geteuid()}")
        return folder / f"counters-{self.fake_gpu}.lock"

    def remove_leases(self):
        """Of all devices that the test may have had."""
        for lease in self.lease.parent.glob(f"counters-{self.fake_gpu[:-2]}??.lock"):
            lease.unlink(missing_ok=True)

    def environment(self, scenario="", **additions):
        """The test's environment: a clean one, the fakes, and a home folder of its own."""
        text = ",".join(part for part in (f"gpu={self.folder}/gpu", scenario) if part)
        (self.folder / ".utlz_fake").write_text(text + "\n")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "LD_LIBRARY_PATH": str(FAKES),
            "CUDA_HOME": str(FAKES / "toolkit"),
            "UTLZ_FAKE": text,
        }
        environment.update(additions)
        return environment

    def cupti_copy(self, name):
        """Another libcupti than the fakes', in a folder of this name."""
        copy = self.folder / name / "libcupti.so.13"
        copy.parent.mkdir()
        shutil.copy(FAKES / "libcupti.so.13", copy)
        return copy

    def broken_cupti(self):
        copy = self.folder / "broken.so"
        copy.write_text("no library\n" * 1000)
        return copy

    def program(self, name):
        return str(PROGRAMS / name)

    def utlz(self, *arguments, environment=None, **options):
        return subprocess.run(
            [str(UTLZ), *arguments],
            env=environment or self.environment(),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
            **options,
        )

    def run_command(self, command, options=("--counters=none",), environment=None):
        profile = self.folder / "run.utlz"
        completed = self.utlz(
            "run", "-o", str(profile), *options, "--", *command, environment=environment
        )
        return Run(completed, profile)

    def run_program(self, name, *arguments, **options):
        return self.run_command([self.program(name), *arguments], **options)

    def report(self, run, *options):
        completed = self.utlz("report", *options, "--format", "json", str(run.profile))
        self.assertEqual(completed.returncode, 0, completed.stderr)
        return json.loads(completed.stdout)

    def assert_same_values(self, first, second, msg=None):
        """What assertEqual does for two mappings or two lists."""
        if first != second:
            self.fail(self._formatMessage(msg, first_differences(first, second)))

    def launches_by_name(self, report):
        totals = {}
        for kernel in report.get("kernels", []):
            name = kernel.get("mangled_name", kernel["name"])
            totals[name] = totals.get(name, 0) + kernel.get("launches", 0)
        return totals

    def assert_same_launches(self, run, report):
        self.assertTrue(run.expectations, f"the program told nothing:\n{run.stdout}{run.stderr}")
        self.assertEqual(self.launches_by_name(report), run.expected_kernels, run.stderr)

    def assert_nothing_lost(self, report):
        capture = report["capture"]
        self.assertEqual(capture.get("launches_dropped", 0), 0)
        self.assertEqual(capture.get("records_dropped", 0), 0)
        self.assertEqual(capture.get("frames_refused", 0), 0)
        self.assertEqual(capture.get("bytes_unreadable", 0), 0)

    def notices_with(self, report, text):
        return [notice for notice in report["run"].get("notices", []) if text in notice]

    def assert_exact(self, run, status=0):
        """The program ended as expected and the profile has exactly what it told."""
        self.assertEqual(run.status, status, run.stderr)
        report = self.report(run)
        self.assert_same_launches(run, report)
        self.assert_nothing_lost(report)
        return report
