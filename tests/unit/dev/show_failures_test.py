"""tools/dev/show_failures.py, on what CTest writes for failed tests of each kind."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.sax.saxutils import escape

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "tools/dev/show_failures.py"
PASSING = [f"test_{number} (test_kernels.KernelsTest) ... ok" for number in range(300)]
UNITTEST = "\n".join(PASSING + ["=" * 70, "FAIL: test_graphs (test_kernels.KernelsTest)", "-" * 70,
                                "Traceback (most recent call last):", "AssertionError: 5 != 0",
                                *[f"what the program said, {line}" for line in range(200)],
                                "=" * 70, "ERROR: test_copies (test_kernels.KernelsTest)",
                                "KeyError: 'share'", "-" * 70, "FAILED (failures=1, errors=1)"])
GTEST = "\n".join(["[ RUN      ] Ring.Works", *["told"] * 200, "./ring_test.cc:12: Failure",
                   "Value of: ring.empty()", "[  FAILED  ] Ring.Works (0 ms)"])
ASAN = "\n".join([*["reading"] * 200, "==7==ERROR: AddressSanitizer: heap-use-after-free on 0x1",
                  "    #0 0x1 in Read ./ring.cc:3", *["shadow"] * 100])
HANGS = "\n".join(f"line {number}" for number in range(200))


class ShowFailuresTest(unittest.TestCase):

    def show(self, *outputs):
        cases = "".join(f'<testcase name="T{number}" status="fail" time="2.4">'
                        f"<system-out>{escape(output)}</system-out></testcase>"
                        for number, output in enumerate(outputs))
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as report:
            report.write('<testsuite><testcase name="Good" status="run" time="1">'
                         f"<system-out>fine</system-out></testcase>{cases}</testsuite>")
            report.flush()
            return subprocess.run([sys.executable, "-B", SCRIPT, report.name], check=True,
                                  capture_output=True, text=True).stdout

    def test_what_follows_a_failure_and_not_what_passed(self):
        shown = self.show(UNITTEST)
        self.assertIn("== T0 failed after 2 s:\n[…]\nFAIL: test_graphs", shown)
        self.assertIn("AssertionError: 5 != 0\n", shown)
        self.assertIn("[…]\nERROR: test_copies (test_kernels.KernelsTest)\nKeyError: 'share'", shown)
        self.assertNotIn("... ok", shown)
        self.assertIn("./ring_test.cc:12: Failure\nValue of: ring.empty()", self.show(GTEST))
        self.assertIn("heap-use-after-free on 0x1\n    #0 0x1 in Read", self.show(ASAN))

    def test_the_end_where_nothing_says_that_it_failed(self):
        shown = self.show(HANGS)
        self.assertIn("line 199\n", shown)
        self.assertNotIn("line 9\n", shown)

    def test_all_fits_into_the_end_of_a_log(self):
        shown = self.show(UNITTEST, GTEST, ASAN, HANGS, HANGS)
        for cause in ("AssertionError: 5 != 0", "Value of: ring.empty()", "heap-use-after-free"):
            self.assertIn(cause, shown)
        self.assertIn("== and 2 more failed", shown)
        self.assertLess(len(shown.splitlines()), 95)
        self.assertLess(len(self.show(UNITTEST).splitlines()), 65)


if __name__ == "__main__":
    unittest.main()
