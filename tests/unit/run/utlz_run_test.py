"""`utlz run` as a person and a shell see it: streams, signals, exit statuses, job control.

Usage: utlz_run_test.py UTLZ STUCK_COLLECTOR [unittest arguments]. Needs no GPU and no CUDA.
"""

import ctypes
import faulthandler
import json
import os
import pathlib
import platform
import pty
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

UTLZ = ""
STUCK_COLLECTOR = ""  # tests/programs/stuck_collector.cc
TIMEOUT_S = 60
HANGS_AFTER_S = 240  # before ctest ends it without a word of where
NOBODY = 65534
# Answers each signal of the name given, and ends with status 3 after a line of input. It waits with
# the signal blocked, since shells at times lose one that comes as a read or a child ends.
ANSWER_SIGNALS = """
import os, signal, sys, threading

def end_after_a_line():
    sys.stdin.readline()
    os._exit(3)

number = signal.Signals["SIG" + sys.argv[1]]
signal.pthread_sigmask(signal.SIG_BLOCK, {number})
threading.Thread(target=end_after_a_line, daemon=True).start()
print("ready", flush=True)
while True:
    signal.sigwait({number})
    os.write(1, f"got {sys.argv[1]}\\n".encode())
"""
RT_SIGACTION = {"x86_64": 13, "aarch64": 134}  # the system call's number


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="utlz run ü "))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.profile = self.folder / "a profile.utlz"
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "UTLZ_SOCKET",
                            "UTLZ_TOKEN")
        }

    def run_utlz(self, *arguments, **options):
        options.setdefault("env", self.environment)
        return subprocess.run(
            [UTLZ, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
            timeout=TIMEOUT_S, **options)

    def run_command(self, *command, **options):
        return self.run_utlz("run", "-o", self.profile, "--", *command, **options)

    def start(self, *command, prepare=lambda: None):
        """A running command whose first line of output, "ready", has been read."""
        def prepare_all():
            self.stop_ignoring()
            prepare()
        process = subprocess.Popen(
            [UTLZ, "run", "-o", str(self.profile), "--", *command], cwd=self.folder,
            env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, preexec_fn=prepare_all)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    @staticmethod
    def stop_ignoring():
        """A shell can trap no signal that it inherited as ignored."""
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM,
                       signal.SIGUSR1, signal.SIGUSR2, signal.SIGTSTP):
            signal.signal(number, signal.SIG_DFL)

    def test_streams_pass_through_untouched(self):
        data = bytes(range(256)) * 1000
        done = subprocess.run(
            [UTLZ, "run", "-o", str(self.profile), "cat"], cwd=self.folder, input=data,
            capture_output=True, timeout=TIMEOUT_S, env=self.environment)
        self.assertEqual(done.stdout, data)
        self.assertEqual(done.returncode, 0)

    def test_streams_that_are_closed_stay_closed_and_out_of_the_profile(self):
        script = "[ -e /proc/self/fd/1 ] && ! [ -e /proc/self/fd/2 ] && exit 7"
        done = self.run_command("sh", "-c", script, preexec_fn=lambda: os.close(2))
        self.assertEqual(done.returncode, 7)
        report = json.loads(self.run_utlz("report", "--format", "json", self.profile).stdout)
        self.assertEqual(report["run"]["exit_status"], 7)
        self.assertEqual(report["capture"].get("frames_refused", 0), 0)
        self.assertEqual(report["capture"].get("bytes_unreadable", 0), 0)

    def test_too_few_descriptors_are_no_fault_of_the_command(self):
        if "ASAN_OPTIONS" in self.environment:
            self.skipTest("UBSan takes an object's type for wrong where it can open no pipe")
        done = self.run_command("true",
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)))
        self.assertEqual(done.returncode, 125)
        self.assertIn("open files", done.stderr)

    def test_help_fits_a_terminal_and_names_the_command(self):
        text = self.run_utlz("run", "--help").stdout
        self.assertIn("Usage: utlz run [OPTIONS] [--] COMMAND…\n", text)
        self.assertEqual([line for line in text.splitlines() if len(line) > 120], [])

    def test_a_command_that_utlz_does_not_have(self):
        done = self.run_utlz("frob\x1b[1m", "now")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no command 'frob\\x1b[1m'", done.stderr)

    def test_exit_status_is_the_commands(self):
        self.assertEqual(self.run_command("sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.run_command("sh", "-c", "kill -9 $$").returncode, 128 + 9)

    def test_what_cannot_be_executed(self):
        missing = self.run_command("no such command")
        self.assertEqual(missing.returncode, 127)
        self.assertIn("command not found", missing.stderr)
        data = self.folder / "data"
        data.write_text("")
        self.assertEqual(self.run_command(data).returncode, 126)
        script = self.folder / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        self.assertEqual(self.run_command(script).returncode, 127)
        self.assertFalse(self.profile.exists(), "nothing ran, so there is nothing to keep")

    def test_a_script_without_a_first_line_runs_in_a_shell(self):
        script = self.folder / "script"
        script.write_text("echo from $0 with $1\n")
        script.chmod(0o755)
        done = self.run_command(script, "a word")
        self.assertEqual(done.stdout, f"from {script} with a word\n")

    def test_the_commands_words_are_its_own(self):
        done = self.run_utlz("run", "-o", self.profile, "echo", "-o", "x", "--", "--help")
        self.assertEqual(done.stdout, "-o x -- --help\n")
        done = self.run_utlz("run", f"--output={self.profile}", "--counters", "none", "--", "echo",
                             "report")
        self.assertEqual(done.stdout, "report\n")

    def test_usage_errors_start_nothing(self):
        for arguments in (["run"], ["run", "--bogus", "true"], ["run", "--counters=most", "true"],
                          ["run", "--overhead-budget=fast", "true"], ["run", "--delay=-1", "true"]):
            done = self.run_utlz(*arguments)
            self.assertEqual(done.returncode, 125, arguments)
            self.assertEqual(done.stdout, "")
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(self.run_utlz("report").returncode, 2)
        self.assertEqual(self.run_utlz().returncode, 2)

    def test_output_that_cannot_be_written_is_refused_before_the_command_starts(self):
        marker = self.folder / "started"
        done = self.run_utlz("run", "-o", "/no/such/folder/p.utlz", "touch", marker)
        self.assertEqual(done.returncode, 125)
        self.assertIn("/no/such/folder/p.utlz", done.stderr)
        script = self.folder / "train.py"
        script.write_text("import torch\n")
        done = self.run_utlz("run", "-o", script, "touch", marker)
        self.assertEqual(done.returncode, 125)
        self.assertIn("not a utlz profile", done.stderr)
        self.assertEqual(script.read_text(), "import torch\n")
        self.assertFalse(marker.exists())

    def test_a_command_that_cannot_start_leaves_an_older_profile(self):
        self.run_command("true")
        before = self.profile.read_bytes()
        script = self.folder / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        self.assertEqual(self.run_command(script).returncode, 127)
        self.assertEqual(self.profile.read_bytes(), before)
        self.assertEqual(sorted(self.folder.iterdir()), sorted([self.profile, script]))
        self.run_command("true")
        self.assertNotEqual(self.profile.read_bytes(), before, "another run replaces it")

    def test_an_older_profile_stays_until_there_is_something_to_keep(self):
        self.run_command("true")
        before = self.profile.read_bytes()
        process = self.start("bash", "-c", "echo ready; read line")
        self.assertEqual(self.profile.read_bytes(), before)
        process.communicate("\n", timeout=TIMEOUT_S)
        self.assertNotEqual(self.profile.read_bytes(), before)
        self.assertEqual(list(self.folder.iterdir()), [self.profile])

    def folder_of_nobody(self):
        """Another user's, beside one that only root may enter."""
        if os.geteuid() != 0:
            self.skipTest("a second user's files are made by root alone")
        self.folder.chmod(0o755)
        theirs = self.folder / "theirs"
        theirs.mkdir()
        os.chown(theirs, NOBODY, NOBODY)
        roots = self.folder / "roots"
        roots.mkdir(mode=0o700)
        return theirs, roots

    def test_root_follows_no_link_of_another_user(self):
        theirs, roots = self.folder_of_nobody()
        marker = self.folder / "started"
        for name, target in (("file", roots / "new"), ("folder", roots)):
            os.symlink(target, theirs / name)
            os.chown(theirs / name, NOBODY, NOBODY, follow_symlinks=False)
        for output in ("file", "folder/new"):
            done = self.run_utlz("run", "-o", theirs / output, "touch", marker)
            self.assertEqual(done.returncode, 125)
            self.assertIn(f"root does not follow the link {output.split('/')[0]}", done.stderr)
            self.assertIn("run utlz as that user", done.stderr)
        self.assertEqual(list(roots.iterdir()), [])
        self.assertFalse(marker.exists())

    def test_under_sudo_the_profile_belongs_to_who_ran_it(self):
        theirs, roots = self.folder_of_nobody()
        self.environment.update(SUDO_UID=str(NOBODY), SUDO_GID=str(NOBODY))
        (self.folder / "results").mkdir()
        os.chown(self.folder / "results", NOBODY, NOBODY)
        os.symlink("../results", theirs / "results")
        os.chown(theirs / "results", NOBODY, NOBODY, follow_symlinks=False)
        profile = theirs / "results" / "run.utlz"
        for _ in range(2):  # a new one, and one that is replaced
            done = self.run_utlz("run", "-o", profile, "true")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((profile.stat().st_uid, profile.stat().st_gid), (NOBODY, NOBODY))
        os.symlink(roots / "new", theirs / "link")
        os.chown(theirs / "link", NOBODY, NOBODY, follow_symlinks=False)
        self.assertEqual(self.run_utlz("run", "-o", theirs / "link", "true").returncode, 125)
        self.assertEqual(list(roots.iterdir()), [])

    def test_another_injection_library_is_refused_by_name(self):
        environment = dict(self.environment, CUDA_INJECTION64_PATH="/opt/other.so")
        done = self.run_command("true", env=environment)
        self.assertEqual(done.returncode, 125)
        self.assertIn("/opt/other.so", done.stderr)

    def test_the_environment_brings_the_agent_in(self):
        done = self.run_command("env")
        variables = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        self.assertTrue(variables["CUDA_INJECTION64_PATH"].endswith("/libutlz_inject.so"))
        self.assertIn("UTLZ_SOCKET", variables)
        self.assertNotIn("NVTX_INJECTION64_PATH", variables)
        for name in self.environment:
            self.assertEqual(variables.get(name), self.environment[name].split("\n")[0])
        socket_folder = pathlib.Path(variables["UTLZ_SOCKET"]).parent
        self.assertFalse(socket_folder.exists(), "gone after the run")
        self.assertRegex(variables["UTLZ_TOKEN"], "^[0-9a-f]{64}$")
        done = self.run_utlz("run", "--nvtx", "-o", self.profile, "env")
        self.assertNotIn(variables["UTLZ_TOKEN"], done.stdout, "each run has its own")
        self.assertIn("NVTX_INJECTION64_PATH=", done.stdout)

    def test_a_libcupti_that_was_named_is_found_from_everywhere(self):
        library = self.folder / "libcupti.so.13"
        library.write_bytes(b"")
        done = self.run_utlz("run", "--cupti", library.name, "-o", self.profile, "env")
        self.assertIn(f"UTLZ_NAMED_CUPTI_PATH={library}\n", done.stdout)
        self.assertNotIn(f"UTLZ_CUPTI_PATH={library}\n", done.stdout.replace("UTLZ_NAMED", ""))
        marker = self.folder / "started"
        done = self.run_utlz("run", "--cupti", "/no/libcupti", "touch", marker)
        self.assertEqual(done.returncode, 125)
        self.assertIn("/no/libcupti", done.stderr)
        self.assertFalse(marker.exists())

    def test_a_run_without_cuda_says_so_loudly(self):
        done = self.run_command("true")
        self.assertIn("NO PROCESS OF THIS COMMAND USED CUDA", done.stderr)
        self.assertIn("NO PROCESS OF THIS COMMAND USED CUDA",
                      self.run_utlz("report", "--format", "json", self.profile).stdout)

    def test_default_name_and_two_runs_at_once(self):
        for _ in range(2):
            self.run_utlz("run", "true")
        names = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertRegex(name, r"^utlz-true-\d{8}-\d{6}-\d+-[0-9a-f]{8}\.utlz$")
        holder = self.start("bash", "-c", "echo ready; read line")
        second = self.run_command("true")
        self.assertEqual(second.returncode, 125)
        self.assertIn("another utlz", second.stderr)
        holder.communicate("\n", timeout=TIMEOUT_S)
        self.assertEqual(holder.returncode, 0)

    def test_signals_sent_to_utlz_reach_the_command_once(self):
        for name in ("TERM", "HUP", "QUIT", "USR1", "USR2", "INT"):
            process = self.start(sys.executable, "-c", ANSWER_SIGNALS, name)
            process.send_signal(getattr(signal, f"SIG{name}"))
            self.assertEqual(process.stdout.readline(), f"got {name}\n")
            output, _ = process.communicate("\n", timeout=TIMEOUT_S)
            self.assertEqual(output, "")
            self.assertEqual(process.returncode, 3, name)

    def test_signals_do_not_end_utlz_while_the_command_lives(self):
        """Nor take its exit status from it: it may be saving a checkpoint."""
        process = self.start(sys.executable, "-c", ANSWER_SIGNALS, "INT")
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.stdout.readline(), "got INT\n")
        output, _ = process.communicate("\n", timeout=TIMEOUT_S)
        self.assertEqual(output, "")
        self.assertEqual(process.returncode, 3)

    def start_stuck(self, script):
        """A running command whose collector hangs for good."""
        fifo = self.folder / "stuck"
        self.environment.update(
            LD_PRELOAD=STUCK_COLLECTOR, UTLZ_TEST_STUCK=str(fifo),
            ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")
        process = self.start("bash", "-c", script)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.mkfifo(fifo)
        with open(fifo, encoding="utf-8") as told:
            self.assertEqual(told.readline(), "stuck\n")
        return process

    def wait_until_gone(self, pid):
        deadline = time.monotonic() + TIMEOUT_S
        while pathlib.Path(f"/proc/{pid}").exists():
            self.assertLess(time.monotonic(), deadline)

    def test_the_second_signal_ends_utlz_once_the_command_has_ended(self):
        process = self.start_stuck("echo ready; echo $UTLZ_SOCKET $$; read line; exit 7")
        socket, pid = process.stdout.readline().split()
        process.stdin.write("\n")
        process.stdin.flush()
        self.wait_until_gone(pid)
        process.send_signal(signal.SIGINT)
        self.assertIn("a second Ctrl-C", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=TIMEOUT_S), 128 + signal.SIGINT)
        said = process.stderr.read()
        self.assertIn(f"utlz report {self.profile}", said)
        self.assertFalse(pathlib.Path(socket).parent.exists(), "gone with utlz")
        del self.environment["LD_PRELOAD"]
        report = json.loads(self.run_utlz("report", "--format", "json", self.profile).stdout)
        self.assertFalse(report["run"]["finished"])

    def test_a_signal_that_ended_the_command_is_the_first(self):
        process = self.start_stuck("echo ready; echo $$; exec sleep 1000")
        pid = process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        self.wait_until_gone(pid)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=TIMEOUT_S), 128 + signal.SIGTERM)

    def test_the_command_keeps_the_handling_that_it_would_have_without_utlz(self):
        script = "grep -E '^Sig(Blk|Ign)' /proc/self/status"
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        def ignore_all():
            # By system calls: the C library hides the two signals that it uses itself.
            action = (ctypes.c_uint64 * 4)(signal.SIG_IGN, 0, 0, 0)
            for number in set(range(1, 65)) - {signal.SIGKILL, signal.SIGSTOP}:
                ctypes.CDLL(None).syscall(RT_SIGACTION[platform.machine()], number, action, None, 8)
        for prepare in (None, ignore, ignore_all):
            with self.subTest(prepare=prepare):
                plain = subprocess.run(["sh", "-c", script], capture_output=True, text=True,
                                       preexec_fn=prepare)
                profiled = self.run_command("sh", "-c", script, preexec_fn=prepare)
                self.assertEqual(profiled.stdout, plain.stdout, profiled.stderr)
                self.assertEqual(profiled.returncode, 0, profiled.stderr)

    def test_a_closed_standard_error_changes_nothing(self):
        done = subprocess.run(
            ["sh", "-c", f'"{UTLZ}" run -o "{self.profile}" sh -c "exit 5" 2>&-'], cwd=self.folder,
            env=self.environment, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 5)

    def test_ctrl_c_reaches_the_command_once(self):
        command = (sys.executable, "-c", ANSWER_SIGNALS, "INT")
        output, status = self.in_terminal(command, b"\x03", b"\n")
        self.assertEqual(output.count("got INT"), 1, output)
        self.assertEqual(os.waitstatus_to_exitcode(status), 3)

    def in_terminal(self, command, first, second):
        """Runs in a new terminal, types `first` once the command is ready and `second` after its
        answer. Returns what was shown, and the wait status."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            self.stop_ignoring()
            os.execve(UTLZ, [UTLZ, "run", "-o", str(self.profile), "--", *command],
                      self.environment)
        shown = self.read_until(terminal, "ready")
        os.write(terminal, first)
        shown += self.read_until(terminal, "got INT")
        os.write(terminal, second)
        shown += self.read_until(terminal, None)
        os.close(terminal)
        return shown, os.waitpid(pid, 0)[1]

    @staticmethod
    def read_until(terminal, word):
        shown = ""
        while word is None or word not in shown:
            try:
                data = os.read(terminal, 4096)
            except OSError:
                break
            if not data:
                break
            shown += data.decode(errors="replace")
        return shown

    def test_stop_and_continue(self):
        script = "echo ready; kill -TSTP $$; echo continued; exit 6"
        # The kernel stops no process group that is orphaned, as this test's own may be.
        process = self.start("bash", "-c", script, prepare=os.setpgrp)
        pid, status = os.waitpid(process.pid, os.WUNTRACED)
        self.assertEqual(pid, process.pid)
        self.assertTrue(os.WIFSTOPPED(status), "utlz stops with its command")
        process.send_signal(signal.SIGCONT)
        output, _ = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(output, "continued\n")
        self.assertEqual(process.returncode, 6)

    def test_reports_name_what_they_cannot_read(self):
        for content, sentence in ((b"", "is empty"), (b"hello, world, hello", "not a utlz profile"),
                                  (b"UTLZPRF\n\x09\0\0\0\0\0\0\0", "format 9")):
            self.profile.write_bytes(content)
            done = self.run_utlz("report", self.profile)
            self.assertEqual(done.returncode, 1)
            self.assertIn(sentence, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_utlz_run_is_run_by_its_other_name(self):
        other = self.folder / "utlz-run"
        other.symlink_to(UTLZ)
        done = subprocess.run([str(other), "-o", str(self.profile), "echo", "hello"],
                              capture_output=True, text=True, timeout=TIMEOUT_S,
                              env=self.environment, cwd=self.folder)
        self.assertEqual(done.stdout, "hello\n")


if __name__ == "__main__":
    UTLZ = os.path.abspath(sys.argv.pop(1))
    STUCK_COLLECTOR = os.path.abspath(sys.argv.pop(1))
    faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True)
    unittest.main()
