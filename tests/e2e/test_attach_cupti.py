"""utlz attach with a libcupti that the user named."""

import time
import unittest
from pathlib import Path

from attaching import AttachTest, Program
from harness import FAKES, TIME_LIMIT_S, UTLZ

GEMM = "_Z4gemmPfPKfS1_i"
OWN = str(FAKES / "libcupti.so.13")


class AttachingWithCupti(AttachTest):

    def start_with_own(self, scenario="instant=1", **options):
        """A program that has loaded a libcupti, as a framework does."""
        program = self.start(environment=self.environment(scenario), **options)
        program.do("load 1")
        return program

    def attach_once(self, program, cupti=None):
        """An attachment of ten launches: the process in its report, the report, and what the tool said."""
        tool = self.attach(*(["--cupti", cupti] if cupti else []), program.pid)
        tool.wait_for("tracing")
        program.do("launch 10")
        own_is_on = program.do("cupti")["done"] > 0
        report = self.finish(tool)
        self.assertEqual(self.launches_by_name(report), {GEMM: 10})
        [process] = report["processes"]
        self.assertEqual(own_is_on, FAKES.samefile(Path(process["cupti_path"]).parent))
        return process, report, tool.said

    def told_at_once(self, said, text):
        """By the tool, in a line of its own; the report wraps what it repeats."""
        return any(line.startswith("utlz: process") and text in line for line in said.splitlines())

    def test_comes_before_the_programs_own(self):
        named = self.cupti_copy("named")
        program = self.start_with_own("instant=1,cupti_version@named=28")
        process, report, _ = self.attach_once(program, named)
        self.assertEqual(process["cupti_path"], str(named))
        self.assertEqual(process["cupti_version"], 28)
        self.assertEqual(len(self.notices_with(report, "torch.profiler")), 1)
        self.assertEqual(program.quit(), 0)

    def test_not_named_it_is_the_programs_own(self):
        program = self.start_with_own()
        process, report, _ = self.attach_once(program)
        self.assertEqual(process["cupti_path"], OWN)
        self.assertEqual(self.notices_with(report, "libcupti"), [])
        self.assertEqual(program.quit(), 0)

    def test_the_program_loads_its_own_later(self):
        program = self.start()
        tool = self.attach("--cupti", self.cupti_copy("named"), program.pid)
        tool.wait_for("tracing")
        program.do("load 2")
        deadline = time.monotonic() + TIME_LIMIT_S
        while OWN.encode() not in tool.profile.read_bytes():
            self.assertLess(time.monotonic(), deadline, "it is not noticed")
            program.do("launch 1")
        self.assertEqual(len(self.notices_with(self.finish(tool), OWN)), 1)
        self.assertEqual(program.quit(), 0)

    def test_is_kept_by_later_attachments(self):
        first, second = self.cupti_copy("first"), self.cupti_copy("second")
        program = self.start_with_own()
        self.attach_once(program, first)
        for cupti, kept in ((first, False), (None, False), (second, True)):
            process, report, said = self.attach_once(program, cupti)
            self.assertEqual(process["cupti_path"], str(first))
            self.assertEqual(len(self.notices_with(report, "torch.profiler")), 1)
            self.assertEqual(self.told_at_once(said, "keeps the libcupti of an earlier attachment"),
                             kept, said)
            self.assertEqual(len(self.notices_with(report, "second")), kept)
        self.assertEqual(program.quit(), 0)

    def test_the_programs_own_is_kept_too(self):
        named = self.cupti_copy("named")
        program = self.start_with_own()
        self.attach_once(program)
        process, report, said = self.attach_once(program, named)
        self.assertEqual(process["cupti_path"], OWN)
        self.assertTrue(self.told_at_once(said, "keeps the libcupti of an earlier attachment"), said)
        self.assertEqual(self.notices_with(report, "torch.profiler"), [])
        self.assertEqual(program.quit(), 0)

    def test_broken_it_is_told_and_passed_over(self):
        program = self.start_with_own()
        process, report, said = self.attach_once(program, self.broken_cupti())
        self.assertEqual(process["cupti_path"], OWN)
        self.assertTrue(self.told_at_once(said, "broken.so, could not be loaded"), said)
        [notice] = self.notices_with(report, "broken.so")
        self.assertIn("invalid ELF header", notice)
        self.assertEqual(program.quit(), 0)

    def test_broken_where_the_program_has_none(self):
        program = self.start()
        process, report, _ = self.attach_once(program, self.broken_cupti())
        self.assertIn("/toolkit/", process["cupti_path"])
        self.assertEqual(len(self.notices_with(report, "broken.so")), 1)
        self.assertEqual(program.quit(), 0)

    def test_programs_own_in_use(self):
        """A copy beside it cannot trace, which is said; without one the next attachment does."""
        named = self.cupti_copy("named")
        program = Program(self.program("other_client"), self.environment(), self.folder, "told")
        self.addCleanup(program.close)
        tool = self.attach("--cupti", named, program.pid)
        self.assertEqual(tool.end(), 1)
        self.assertIn("attach without --cupti", tool.said)
        tool = self.attach(program.pid)
        self.wait_until_done(program, tool)
        self.assertEqual(self.result(tool)["processes"][0]["cupti_path"], OWN)

    def test_agent_inactive_is_told_of_it_beforehand(self):
        named, other = self.cupti_copy("named"), self.cupti_copy("other")
        prefix = [str(UTLZ), "run", "--preload", "--cupti", str(named), "--"]
        process, _, _ = self.attach_once(self.start_with_own(prefix=prefix))
        self.assertEqual(process["cupti_path"], str(named))
        process, _, _ = self.attach_once(self.start_with_own(prefix=prefix), other)
        self.assertEqual(process["cupti_path"], str(other))

    def test_file_that_is_not_there(self):
        program = self.start()
        completed = self.utlz("attach", "--cupti", str(self.folder / "absent.so"),
                              str(program.pid), environment=self.test_environment)
        self.assertNotEqual(completed.returncode, 0)
        self.assertIn("absent.so", completed.stderr)
        self.assertEqual(program.quit(), 0)


if __name__ == "__main__":
    unittest.main()
