#!/usr/bin/env python3
""".ci/run with stand-ins for its stages: the first that fails ends it, and what ctest said closes it."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[3]
CTEST = r"""100% tests passed, 0 tests failed out of 3

Total Test time (real) =   1.00 sec"""
REPORT = """<testsuite><testcase name="e2e.kernels" status="fail" time="1"><system-out>
FAIL: test_of_{preset}</system-out></testcase></testsuite>"""
STAGES = ("make packages-test", "make packages-monitoring", "make release", "make test",
          "make sanitizers-build", "run_tests sanitizers", "run_fuzzers 10")


class CiRunTest(unittest.TestCase):

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="utlz-ci-"))
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / ".ci").mkdir()
        shutil.copy(ROOT / ".ci" / "run", self.root / ".ci")
        for program in ("bin/make", "tools/dev/run_tests", "tools/dev/run_fuzzers"):
            self.add(program)
        shutil.copy(ROOT / "tools/dev/show_failures.py", self.root / "tools/dev")
        for preset in ("release", "sanitizers"):
            (self.root / "build" / preset).mkdir(parents=True)
            (self.root / "build" / preset / "tests.xml").write_text(REPORT.format(preset=preset))

    def add(self, program):
        """It notes how it was called, and fails where it is told to."""
        path = self.root / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#!/bin/sh\ncalled="$(basename "$0") $*"\necho "$called" >> calls\n'
                        'case "$called" in *test|run_tests*) cat ctest ;; esac\n'
                        '[ "$called" != "$FAILING" ] || exit 7\n')
        path.chmod(0o755)
        (self.root / "ctest").write_text(CTEST + "\nSkipped: 1\n  no GPU\n")

    def run_ci(self, failing=""):
        (self.root / "calls").write_text("")
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run([str(self.root / ".ci" / "run")], capture_output=True, text=True,
                              timeout=60, check=False,
                              env={**os.environ, "PATH": path, "FAILING": failing})
        done.calls = tuple((self.root / "calls").read_text().splitlines())
        return done

    def test_every_stage_in_order(self):
        done = self.run_ci()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.calls, STAGES)
        for name in ("release_build", "release_tests", "sanitizers_build", "sanitizers_tests",
                     "fuzzers"):
            self.assertRegex(done.stdout, rf"== {name} took \d+m")
        closing = done.stdout[done.stdout.rindex("== ctest of release_tests:"):]
        of_release, of_sanitizers = closing.split("== ctest of sanitizers_tests:")
        self.assertIn(CTEST, of_release)
        self.assertIn(CTEST, of_sanitizers)
        self.assertNotIn("Skipped", closing)

    def test_the_first_stage_that_fails_ends_it(self):
        for number, stage in enumerate(STAGES):
            done = self.run_ci(failing=stage)
            self.assertEqual(done.returncode, 7, stage)
            self.assertEqual(done.calls, STAGES[:number + 1])
            self.assertIn("== FAILED in stage", done.stdout)

    def test_a_stage_of_tests_that_fails_ends_with_what_they_printed(self):
        for preset, stage in (("release", "make test"), ("sanitizers", "run_tests sanitizers")):
            done = self.run_ci(failing=stage)
            self.assertTrue(done.stdout.endswith(
                f"== FAILED in stage {preset}_tests, status 7\n== e2e.kernels failed after 1 s:\n"
                f"FAIL: test_of_{preset}\n"), done.stdout)
        self.assertNotIn("FAIL: ", self.run_ci(failing="make release").stdout)
        self.assertNotIn("FAIL: ", self.run_ci().stdout)


if __name__ == "__main__":
    unittest.main()
