"""tools/python/utlz on the bundled recording, and on reports of programs that stand in for utlz.

    profiles_test.py UTLZ
"""

import dataclasses
import html
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import typing
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
UTLZ = sys.argv[1]
DEMO = ROOT / "data/demo.utlz"
sys.path.insert(0, str(ROOT / "tools/python"))
import utlz  # pylint: disable=wrong-import-position
from utlz import _records  # pylint: disable=wrong-import-position


def report_of(form):
    return subprocess.run([UTLZ, "report", "--format", form, DEMO], check=True,
                          capture_output=True, text=True).stdout


class RecordingTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.profile = utlz.load(DEMO, program=UTLZ)
        cls.report = json.loads(report_of("json"))

    def test_kernels_are_the_reports(self):
        rows = self.report["kernels"]
        self.assertEqual([row["short_name"] for row in rows],
                         [kernel.short_name for kernel in self.profile.kernels])
        for field in dataclasses.fields(utlz.Kernel):
            if field.name in ("family", "flops_by_type"):
                continue
            for row, kernel in zip(rows, self.profile.kernels):
                value = getattr(kernel, field.name)
                if field.name in row:
                    self.assertEqual(row[field.name], list(value) if isinstance(value, tuple)
                                     else value, field.name)
                else:
                    self.assertIn(value, (None, "", (), "unknown"), field.name)
        self.assertEqual(rows[0]["flops_by_type"][0]["flops"],
                         self.profile.kernels[0].flops_by_type[0].flops)

    def test_every_field_of_a_kernel_is_in_the_contract(self):
        document = (ROOT / "docs/reference/report_json.md").read_text(encoding="utf-8")
        section = document.partition("## `kernels[]`")[2].partition("\n## ")[0]
        promised = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
        fields = {field.name for field in dataclasses.fields(utlz.Kernel)} - {"family"}
        self.assertEqual(set(), fields - promised)

    def test_families_sum_up_the_kernels(self):
        families = self.profile.families
        self.assertEqual(len(self.profile.kernels), sum(family.kernels for family in families))
        self.assertAlmostEqual(sum(kernel.time_ns for kernel in self.profile.kernels),
                               sum(family.time_ns for family in families), delta=1)
        times = [family.time_ns for family in families]
        self.assertEqual(sorted(times, reverse=True), times)
        self.assertEqual("matrix product", families[0].name)

    def test_steps_are_the_reports(self):
        steps = self.profile.steps
        self.assertEqual(self.report["steps"]["time_ns"], [step.time_ns for step in steps])
        self.assertEqual(self.report["steps"]["start_ns"], [step.start_ns for step in steps])
        self.assertEqual(self.report["steps"]["warmup_steps"], sum(step.warmup for step in steps))
        self.assertEqual(self.report["steps"].get("slow", []),
                         [step.index for step in steps if step.slow])

    def test_a_notebook_shows_the_page_in_a_frame_of_its_own(self):
        cell = self.profile._repr_html_()
        match = re.fullmatch(r'<iframe sandbox="allow-scripts" srcdoc="([^"]*)" style="[^"]*">'
                             r"</iframe>", cell)
        self.assertIsNotNone(match, cell[:200])
        self.assertEqual(report_of("html"), html.unescape(match[1]))
        self.assertNotIn("<script", match[1])

    def test_frames_without_pandas(self):
        if importlib.util.find_spec("pandas") is not None:
            self.skipTest("pandas is installed here")
        with self.assertRaises(ModuleNotFoundError):
            self.profile.kernel_frame()

    def test_frames(self):
        if importlib.util.find_spec("pandas") is None:
            self.skipTest("pandas is not installed here")
        frame = self.profile.kernel_frame()
        self.assertEqual([kernel.time_ns for kernel in self.profile.kernels],
                         list(frame["time_ns"]))
        self.assertEqual(len(self.profile.families), len(self.profile.family_frame()))
        self.assertEqual([step.time_ns for step in self.profile.steps],
                         list(self.profile.step_frame()["time_ns"]))
        self.assertEqual([field.name for field in dataclasses.fields(utlz.Kernel)],
                         list(frame.columns))

    def test_pandas_is_not_loaded_for_less(self):
        script = ("import sys; sys.path.insert(0, sys.argv[1]); import utlz; "
                  "utlz.load(sys.argv[2], program=sys.argv[3]).families; "
                  "sys.exit('pandas' in sys.modules)")
        subprocess.run([sys.executable, "-B", "-c", script, ROOT / "tools/python", DEMO, UTLZ],
                       check=True)


class StandInTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, text):
        """A utlz that prints this."""
        path = self.folder / "utlz"
        (self.folder / "text").write_text(text)
        path.write_text(f"#!/bin/sh\ncat '{self.folder}/text'\n")
        path.chmod(0o755)
        return str(path)

    def load(self, report):
        return utlz.load("any.utlz", program=self.program(json.dumps(report)))

    def test_a_newer_report_has_fields_that_are_not_known_here(self):
        profile = self.load({"schema": "utlz.report/1", "new": 1, "kernels": [
            {"name": "gemm", "launches": 2 ** 60 + 1, "new": {"a": 1}, "time_ns": None}]})
        [kernel] = profile.kernels
        self.assertEqual((2 ** 60 + 1, None, "gemm"),
                         (kernel.launches, kernel.time_ns, kernel.short_name))
        self.assertEqual([], profile.steps)
        self.assertIsNone(profile.families[0].time_ns)

    def test_slow_steps_have_their_reasons(self):
        profile = self.load({"schema": "utlz.report/1", "steps": {
            "time_ns": [9.0, 1.0, 5.0], "warmup_steps": 1, "slow": [2], "slow_reason": ["idle"]}})
        self.assertEqual([(True, False, ""), (False, False, ""), (False, True, "idle")],
                         [(step.warmup, step.slow, step.slow_reason) for step in profile.steps])
        self.assertIsNone(profile.steps[0].start_ns)

    def test_another_program_of_that_name_is_noticed(self):
        for text in ("Utilisation: 5 %", "[]", '{"schema": "other/1"}'):
            with self.assertRaisesRegex(utlz.ReportError, "another program of that name"):
                utlz.load("any.utlz", program=self.program(text))

    def test_what_cannot_be_read_is_said_in_utlzs_words(self):
        bad = self.folder / "-bad.utlz"
        bad.write_text("no profile")
        with self.assertRaisesRegex(utlz.ReportError, r"utlz: .*-bad\.utlz"):
            utlz.load(bad, program=UTLZ)

    def test_no_program(self):
        script = ("import sys; sys.path.insert(0, sys.argv[1]); import utlz; utlz.load('a')")
        done = subprocess.run([sys.executable, "-B", "-c", script, ROOT / "tools/python"],
                              env={"PATH": str(self.folder)}, capture_output=True, text=True,
                              check=False)
        self.assertIn("FileNotFoundError: there is no program utlz in this package", done.stderr)


class SourcesTest(unittest.TestCase):

    def test_families_are_those_of_the_comparison(self):
        source = (ROOT / "tools/compare/kernel_match.cc").read_text(encoding="utf-8")
        table = source.partition("kClassWords[] = {")[2].partition("\n};")[0]
        self.assertEqual(re.findall(r'\{"([^"]+)", "([^"]+)"\}', table),
                         list(_records.FAMILY_WORDS))

    def test_the_version_is_the_projects(self):
        text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertIn(f"project(utlz VERSION {utlz.__version__} ", text)

    def test_everything_public_is_typed_and_described(self):
        self.assertTrue((ROOT / "tools/python/utlz/py.typed").exists())
        for name in utlz.__all__:
            entity = getattr(utlz, name)
            self.assertTrue(entity.__doc__, name)
        for kind in (utlz.Kernel, utlz.Family, utlz.Step, utlz.WorkByType):
            typing.get_type_hints(kind)
        self.assertIn("nanoseconds", utlz.Kernel.__doc__)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
