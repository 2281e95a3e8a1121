"""utlz attach --nvtx: whether a process's ranges can be heard is said."""

import unittest

from attaching import AttachTest
from harness import FAKES

NOT_HEARD = "so its NVTX ranges are not heard"


class AttachingForRanges(AttachTest):

    def attach_once(self, *options, **variables):
        """What the tool said, and the notices of the report."""
        program = self.start(environment=self.test_environment | variables)
        tool = self.attach(*options, program.pid)
        tool.wait_for("tracing")
        program.do("launch 10")
        report = self.finish(tool)
        self.assertEqual(program.quit(), 0)
        return tool.said, report["run"]["notices"]

    def test_without_the_variable_they_are_not(self):
        said, notices = self.attach_once("--nvtx")
        self.assertIn("was started without NVTX_INJECTION64_PATH, " + NOT_HEARD, said)
        self.assertTrue(any(NOT_HEARD in notice for notice in notices), notices)

    def test_another_tool_s_library_hears_them(self):
        said, _ = self.attach_once("--nvtx", NVTX_INJECTION64_PATH="/opt/other/libother.so")
        self.assertIn("was started with another NVTX_INJECTION64_PATH, " + NOT_HEARD, said)

    def test_a_libcupti_hears_them(self):
        said, notices = self.attach_once("--nvtx",
                                   NVTX_INJECTION64_PATH=str(FAKES / "libcupti.so.13"))
        self.assertNotIn(NOT_HEARD, said)
        self.assertFalse(any(NOT_HEARD in notice for notice in notices), notices)

    def test_who_asks_for_none_is_told_nothing(self):
        said, _ = self.attach_once()
        self.assertNotIn("NVTX", said)


if __name__ == "__main__":
    unittest.main()
