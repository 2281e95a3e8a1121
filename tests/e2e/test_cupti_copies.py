"""utlz run with a libcupti that the user named: beside the program's own, or instead of one."""

import unittest

from harness import FAKES, EndToEndTest

OWN = str(FAKES / "libcupti.so.13")


class NamedCupti(EndToEndTest):

    def run_with(self, cupti, name, *arguments, scenario=""):
        options = ["--counters=none", "--overhead-budget=unlimited"]
        if cupti:
            options += ["--cupti", str(cupti)]
        return self.run_program(name, *arguments, options=options,
                                environment=self.environment(scenario))

    def process_of(self, run):
        report = self.report(run)
        [process] = report["processes"]
        return process, report

    def test_comes_before_the_programs_own(self):
        """Whose client sees nothing, which is said; the agent keeps out of its calls."""
        named = self.cupti_copy("named")
        run = self.run_with(named, "other_client", "shut_out", "0.2",
                            scenario="cupti_version@named=28")
        report = self.assert_exact(run)
        [process] = report["processes"]
        self.assertEqual(process["cupti_path"], str(named))
        self.assertEqual(process["cupti_version"], 28)
        [notice] = self.notices_with(report, "torch.profiler")
        self.assertIn(str(named), notice)
        self.assertIn("torch.profiler", run.stderr)

    def test_serves_every_child(self):
        named = self.cupti_copy("named")
        run = self.run_with(named, "process_chain")
        for process in self.assert_exact(run)["processes"]:
            self.assertEqual(process["cupti_path"], str(named))

    def test_nothing_is_said_where_the_program_has_none(self):
        named = self.cupti_copy("named")
        process, report = self.process_of(self.run_with(named, "ending"))
        self.assertEqual(process["cupti_path"], str(named))
        self.assertEqual(self.notices_with(report, "libcupti"), [])

    def test_not_named_it_is_the_programs_own(self):
        process, report = self.process_of(self.run_with(None, "other_client", "imported", "0.2"))
        self.assertEqual(process["cupti_path"], OWN)
        self.assertEqual(self.notices_with(report, "libcupti"), [])

    def test_the_programs_own_may_be_named_too(self):
        link = self.folder / "link.so"
        link.symlink_to(OWN)
        run = self.run_with(link, "other_client", "imported", "0.2")
        self.assertEqual(run.status, 0, run.stderr)
        process, report = self.process_of(run)
        self.assertEqual(process["cupti_path"], OWN)
        self.assertEqual(self.notices_with(report, "libcupti"), [])

    def assert_own_instead_of(self, cupti, why, scenario=""):
        run = self.run_with(cupti, "other_client", "imported", "0.2", scenario=scenario)
        self.assertEqual(run.status, 0, run.stderr)
        process, report = self.process_of(run)
        self.assertEqual(process["cupti_path"], OWN)
        [notice] = self.notices_with(report, str(cupti))
        self.assertIn(why, notice)
        self.assertEqual(self.notices_with(report, "torch.profiler"), [])

    def test_broken_it_is_told_and_passed_over(self):
        self.assert_own_instead_of(self.broken_cupti(), "invalid ELF header")

    def test_too_old_it_is_told_and_passed_over(self):
        self.assert_own_instead_of(self.cupti_copy("named"), "older than CUPTI 12.6",
                                   scenario="cupti_version@named=22")

    def test_without_functions_it_is_told_and_passed_over(self):
        self.assert_own_instead_of(FAKES / "libcublasLt.so.13", "is no libcupti")

    def test_broken_where_the_program_has_none(self):
        process, report = self.process_of(self.run_with(self.broken_cupti(), "ending"))
        self.assertNotEqual(process.get("cupti_path", ""), "")
        self.assertEqual(len(self.notices_with(report, "broken.so")), 1)


if __name__ == "__main__":
    unittest.main()
