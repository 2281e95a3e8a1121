"""tools/dev/list_skipped.py, on what CTest writes for skipped tests of each kind."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/dev"))
import list_skipped  # pylint: disable=wrong-import-position

REPORT = """<?xml version="1.0"?>
<testsuite name="x" tests="4">
  <testcase name="Ring.Works" status="run"><system-out>fine</system-out></testcase>
  <testcase name="Gpu.Samples" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
    <system-out>Running main() from gtest_main.cc
Note: Google Test filter = Gpu.Samples
[ RUN      ] Gpu.Samples
/somewhere/gpu_test.cc:12: Skipped
no GPU here

[  SKIPPED ] Gpu.Samples (0 ms)
[  PASSED  ] 0 tests.
</system-out></testcase>
  <testcase name="gpu.pytorch" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
    <system-out>no GPU here
</system-out></testcase>
  <testcase name="Quiet" status="disabled"><skipped message="Disabled"/></testcase>
</testsuite>
"""


class ListSkippedTest(unittest.TestCase):

    def test_groups_skipped_tests_by_their_reason(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as report:
            report.write(REPORT)
            report.flush()
            skipped = list_skipped.skipped_by_reason(report.name)
        self.assertEqual({"no GPU here": ["Gpu.Samples", "gpu.pytorch"],
                          "no reason given": ["Quiet"]}, dict(skipped))


if __name__ == "__main__":
    unittest.main()
