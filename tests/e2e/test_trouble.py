"""What goes wrong around a run ends in a clear sentence, and never in a harmed program."""

import os
import pathlib
import subprocess
import unittest

from harness import FAKES, TIME_LIMIT_S, UTLZ, EndToEndTest


class TroubleTest(EndToEndTest):
    def unharmed(self, scenario, **additions):
        """The program runs as without us; returns standard error."""
        run = self.run_program("ending", "status", environment=self.environment(scenario,
                                                                               **additions))
        self.assertEqual(run.status, 42, run.stderr)
        self.assertEqual(len(run.expectations), 1)
        return run

    def test_command_not_found(self):
        run = self.run_command(["/nonexistent/command"])
        self.assertEqual(run.status, 127)
        self.assertIn("/nonexistent/command", run.stderr)

    def test_command_not_executable(self):
        path = self.folder / "not executable"
        path.write_text("text")
        run = self.run_command([str(path)])
        self.assertEqual(run.status, 126)
        self.assertIn("not executable", run.stderr)

    def test_standard_streams_are_untouched(self):
        plain = self.run_command(["/bin/sh", "-c", "printf 'a\\0b'; echo error >&2; exit 5"])
        self.assertEqual(plain.status, 5)
        self.assertEqual(plain.stdout, "a\0b")
        self.assertIn("error\n", plain.stderr)

    def test_program_without_cuda(self):
        run = self.run_program("no_cuda", "one argument", "ü")
        self.assertEqual(run.status, 0)
        self.assertEqual(run.stdout, "one argument\nü\nno CUDA here\n")
        self.assertIn("NO PROCESS OF THIS COMMAND USED CUDA", run.stderr)

    @unittest.skipUnless((pathlib.Path(os.environ["UTLZ_E2E_PROGRAMS"]) / "static").exists(),
                         "static executables cannot be sanitized")
    def test_static_program(self):
        run = self.run_program("static")
        self.assertEqual(run.status, 0)
        self.assertIn("statically linked", run.stderr)

    def test_no_driver(self):
        environment = self.environment()
        del environment["LD_LIBRARY_PATH"]
        run = self.run_program("no_cuda", environment=environment)
        self.assertEqual(run.status, 0)
        self.assertIn("libcuda.so.1", run.stderr)

    def test_no_device(self):
        run = self.run_program("ending", environment=self.environment("cu_init=100"))
        self.assertEqual(run.status, 3)
        self.assertIn("NO PROCESS OF THIS COMMAND USED CUDA", run.stderr)

    def test_collector_that_answers_too_late(self):
        """The agent waits a second for it; what utlz cannot run meanwhile, the shell lets it do."""
        stopping = ["/bin/sh", "-c", 'kill -STOP $PPID; "$0" status; status=$?; kill -CONT $PPID; '
                    "exit $status", self.program("ending")]
        run = self.run_command(stopping)
        self.assertEqual(run.status, 42, run.stderr)
        self.assertIn("1 process is not recorded from the start: the collector was too busy",
                      run.stderr)
        self.assertNotIn("NO PROCESS OF THIS COMMAND USED CUDA", run.stderr)

    def test_limit_of_file_sizes(self):
        """A file beyond it would end the program with SIGXFSZ, the agent's ring too."""
        self.unharmed("")  # makes the file that the fakes share
        limited = ["/bin/sh", "-c", 'ulimit -f 4000 && exec "$0" status', self.program("ending")]
        run = self.run_command(limited)
        self.assertEqual(run.status, 42, run.stderr)
        self.assertEqual(len(run.expectations), 1)

    def test_cupti_taken_by_another_subscriber(self):
        run = self.unharmed("subscriber_taken=1")
        self.assertRegex(run.stderr, "(?i)cupti|another")

    def test_cupti_too_old(self):
        run = self.unharmed("cupti_version=22")
        self.assertIn("12.6", run.stderr)

    def test_cupti_calls_that_fail(self):
        for function in ("cuptiActivityEnable", "cuptiActivityRegisterCallbacks",
                         "cuptiSubscribe", "cuptiActivitySetAttribute", "cuptiActivityFlushAll",
                         "cuptiEnableCallback"):
            with self.subTest(function=function):
                self.unharmed(f"fail.{function}=999")

    def test_injection_library_already_set(self):
        environment = self.environment(CUDA_INJECTION64_PATH="/opt/other/libinjection.so")
        run = self.run_program("ending", environment=environment)
        self.assertNotEqual(run.status, 0)
        self.assertIn("/opt/other/libinjection.so", run.stderr)
        self.assertEqual(run.stdout, "")

    def test_output_not_writable(self):
        profile = "/nonexistent/folder/run.utlz"
        completed = self.utlz("run", "-o", profile, "--", self.program("ending"))
        self.assertNotEqual(completed.returncode, 0)
        self.assertIn(profile, completed.stderr)
        self.assertEqual(completed.stdout, "", "the command was started")

    def test_a_folder_without_room_for_the_profile(self):
        """Where the user gave it no name."""
        completed = subprocess.run(
            ["/bin/sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$0" run "$1"',
             str(UTLZ), self.program("ending")],
            env=self.environment(), cwd=self.folder, capture_output=True, text=True,
            timeout=TIME_LIMIT_S, check=False)
        self.assertEqual(completed.returncode, 125, completed.stderr)
        self.assertIn("-o FILE", completed.stderr)
        self.assertEqual(completed.stdout, "", "the command was started")

    def test_paths_with_spaces_and_other_letters(self):
        folder = self.folder / "a folder, ünïcödé"
        folder.mkdir()
        profile = folder / "mein Lauf.utlz"
        completed = self.utlz("run", "-o", str(profile), "--counters=none", "--",
                              self.program("ending"))
        self.assertEqual(completed.returncode, 0, completed.stderr)
        self.assertEqual(self.utlz("report", str(profile)).returncode, 0)

    def test_arguments_that_are_no_text(self):
        run = self.run_program("ending", "status", b"caf\xe9 \xff")
        self.assertEqual(run.status, 42, run.stderr)
        report = self.assert_exact(run, 42)
        self.assertEqual(report["run"]["command"][-1], "caf? ?")
        self.assertEqual(len(report["processes"]), 1)
        self.assertNotIn("protobuf", run.stderr)

    def run_with_profile_in_a_folder(self, script):
        """The command deals with the folder of its own profile once that has its name."""
        (self.folder / "out").mkdir()
        program = self.program("ending")
        completed = self.utlz(
            "run", "-o", "out/run.utlz", "--no-report", "--counters=none", "--", "/bin/sh", "-c",
            f"'{program}' return && until [ -s out/run.utlz ]; do sleep 0.01; done; {script}")
        self.assertEqual(completed.returncode, 0, completed.stderr)
        return completed.stderr

    def test_the_command_removes_its_profile(self):
        said = self.run_with_profile_in_a_folder("rm -r out")
        self.assertIn("out/run.utlz was removed while it was written", said)
        self.assertIn("no profile is at out/run.utlz", said)
        self.assertNotIn("profile: out", said)

    def test_the_command_moves_its_profile(self):
        """And what was moved is whole."""
        said = self.run_with_profile_in_a_folder("mv out results")
        self.assertIn("out/run.utlz was moved while it was written", said)
        report = self.utlz("report", "results/run.utlz")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertNotIn("not ended", report.stdout)

    def test_the_command_leaves_its_profile_alone(self):
        said = self.run_with_profile_in_a_folder("true")
        self.assertEqual(said, "utlz: profile: out/run.utlz\n")

    def test_disk_full(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full")
        completed = self.utlz("run", "-o", "/dev/full", "--counters=none", "--",
                              self.program("ending"), "status")
        self.assertIn(completed.returncode, (1, 2, 42, 125))
        self.assertIn("/dev/full", completed.stderr)

    def test_damaged_profiles(self):
        run = self.run_program("ending")
        self.assertEqual(run.status, 0, run.stderr)
        whole = run.profile.read_bytes()
        damaged = self.folder / "damaged.utlz"
        for length in (0, 7, 16, 40, len(whole) // 2, len(whole) - 1):
            with self.subTest(length=length):
                damaged.write_bytes(whole[:length])
                completed = self.utlz("report", str(damaged))
                self.assertIn(completed.returncode, (0, 1), completed.stderr)
                if completed.returncode != 0:
                    self.assertIn("damaged.utlz", completed.stderr)
        damaged.write_bytes(whole[:40] + bytes(len(whole) - 40))
        completed = self.utlz("report", str(damaged))
        self.assertEqual(completed.returncode, 0, completed.stderr)
        self.assertIn("damaged", completed.stdout)
        newer = bytearray(whole)
        newer[8] = 99
        damaged.write_bytes(newer)
        completed = self.utlz("report", str(damaged))
        self.assertEqual(completed.returncode, 1)
        self.assertIn("99", completed.stderr)

    def test_a_baseline_takes_no_candidate(self):
        """Whatever stands behind them: an option that ate both would leave nothing to judge."""
        baseline, candidate = (str(self.folder / name) for name in ("a.utlz", "b.utlz"))
        completed = self.utlz("gate", "--baseline", baseline, candidate, "--max-regression", "3%")
        self.assertEqual(completed.returncode, 4)
        for path in (baseline, candidate):
            self.assertIn(f"cannot read {path}", completed.stderr)

    def test_fakes_are_what_runs(self):
        """Guards the other tests: a real driver beside the fakes would make them meaningless."""
        run = self.run_program("ending")
        report = self.report(run)
        self.assertEqual(report["devices"][0]["uuid"], self.fake_gpu)
        self.assertTrue((FAKES / "libcuda.so.1").exists())


if __name__ == "__main__":
    unittest.main()
