#!/usr/bin/env python3
"""The full screen of utlz top in a real terminal, tmux's: what it shows, what keys do, and that the
terminal is as before, however utlz top ends."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["UTLZ_PROGRAM"]
FAKE = os.environ["UTLZ_FAKE_NVML"]
RECORDING = os.environ["UTLZ_RECORDING"]
TIME_LIMIT_S = 60
LOCALE = {"LC_ALL": "C.UTF-8"}


class TopScreen(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="utlz-top-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.socket = None
        self.terminals = 0

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-u", "-S", self.socket, "-f", "/dev/null", *arguments],
                              capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False,
                              env={"PATH": os.environ["PATH"], "TERM": "xterm-256color",
                                   "HOME": str(self.folder), **LOCALE})
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def open_terminal(self, command, width=80, height=24):
        self.terminals += 1
        self.socket = str(self.folder / f"tmux{self.terminals}")
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(self.folder),
                  command)
        self.addCleanup(subprocess.run, ["tmux", "-S", self.socket, "kill-server"],
                        capture_output=True, check=False)

    def start(self, *arguments, width=80, height=24, environment=None):
        """Runs utlz top in a shell of a new terminal, which says what came of it."""
        for name in ("pid", "status", "before", "after"):
            (self.folder / name).unlink(missing_ok=True)
        variables = {"LD_LIBRARY_PATH": FAKE, "XDG_RUNTIME_DIR": str(self.folder), **LOCALE,
                     **(environment or {})}
        words = " ".join(f"{name}='{value}'" for name, value in variables.items())
        command = " ".join([PROGRAM, "top", "--interval=0.2", *arguments])
        script = self.folder / "script"
        script.write_text(
            "set -m\n"  # so that the program has the terminal, as in a shell of a person
            "trap : INT\n"  # the end of a program by Ctrl-C would end the script too
            "echo BEFORE\nstty -g > before\n"
            f"env {words} sh -c 'echo $$ > pid; exec {command}'\n"
            "echo $? > status; stty -g > after; echo AFTER; exec cat\n")
        self.open_terminal(f"bash {script}", width, height)

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def wait_for(self, what, *options):
        """The screen, once `what`, a text or a function of it, is there."""
        is_there = what if callable(what) else lambda text: what in text
        deadline = time.monotonic() + TIME_LIMIT_S
        while not is_there(text := self.screen(*options)):
            self.assertLess(time.monotonic(), deadline, text)
            time.sleep(0.02)
        return text

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def read(self, name):
        return (self.folder / name).read_text().strip()

    def assert_left_as_found(self, status):
        text = self.wait_for("AFTER")
        self.assertIn("BEFORE", text)
        self.assertNotIn("F10 Quit", text)
        self.assertEqual(self.read("before"), self.read("after"))
        self.assertEqual(str(status), self.read("status"))
        flags = self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{keypad_flag}")
        self.assertEqual("0 1 0", flags.strip())

    def test_shows_the_gpu_and_q_ends_it(self):
        self.start()
        text = self.wait_for("GPU-Util 80.0%")
        self.assertIn("Fake GPU", text)
        self.assertIn("SM 20.0%", text)
        self.assertIn("score 25.0%", text)
        self.assertIn("F10 Quit", text)
        self.keys("q")
        self.assert_left_as_found(0)

    def test_f10_ends_it_too(self):
        self.start()
        self.wait_for("F10 Quit")
        self.keys("F10")
        self.assert_left_as_found(0)

    def test_every_signal_leaves_the_terminal_as_it_was(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT,
                       signal.SIGSEGV, signal.SIGABRT):
            with self.subTest(signal=number):
                self.start()
                self.wait_for("F10 Quit")
                os.kill(int(self.read("pid")), number)
                self.assert_left_as_found(128 + number)

    def test_ctrl_c_ends_it(self):
        self.start()
        self.wait_for("F10 Quit")
        self.keys("C-c")
        self.assert_left_as_found(128 + signal.SIGINT)

    def test_output_that_is_held_up_does_not_keep_it(self):
        self.start()
        self.wait_for("F10 Quit")
        self.keys("C-s")
        os.kill(int(self.read("pid")), signal.SIGTERM)
        self.assert_left_as_found(128 + signal.SIGTERM)

    def test_follows_the_size(self):
        self.start()
        self.wait_for("F10 Quit")
        self.tmux("resize-window", "-x", "120", "-y", "40")
        self.wait_for(lambda text: text.rstrip("\n").count("\n") == 39 and
                      text.rstrip("\n").splitlines()[-1].startswith("F1 Help"))
        self.tmux("resize-window", "-x", "30", "-y", "6")
        self.wait_for("needs 40x8")
        self.tmux("resize-window", "-x", "80", "-y", "24")
        self.wait_for("F10 Quit")
        self.keys("q")
        self.assert_left_as_found(0)

    def test_stops_and_goes_on(self):
        self.open_terminal("env PS1='ready> ' bash --norc -i")
        self.wait_for("ready>")
        self.keys(f"LD_LIBRARY_PATH={FAKE} XDG_RUNTIME_DIR={self.folder} {PROGRAM} top", "Enter")
        self.wait_for("F10 Quit")
        self.keys("C-z")
        self.wait_for("Stopped")
        flags = self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}")
        self.assertEqual("0 1", flags.strip())
        self.keys("fg", "Enter")
        self.wait_for("F10 Quit")
        self.keys("q")
        self.wait_for(lambda text: text.rstrip().endswith("ready>"))

    def test_keys_open_filter_and_sort(self):
        self.start("--replay", RECORDING)
        self.wait_for("KERNEL")
        self.keys("l")
        # The recording has no stacks, and the table says so.
        self.wait_for("LAYER")
        self.wait_for("--stacks auto")
        self.keys("l", "l")
        self.wait_for("KERNEL")
        self.wait_for("HFU")
        self.keys("Enter")
        self.wait_for("step ")
        self.wait_for("useful")
        self.keys("Down", "Enter")
        self.wait_for("of its roof")
        self.keys("Escape")
        self.wait_for("useful")
        self.keys("Escape")
        self.wait_for("COMMAND")
        self.keys("/", "x", "y", "z")
        self.wait_for("filter: xyz")
        self.wait_for("no processes to show")
        self.keys("Escape")
        self.wait_for("python3")
        self.keys("o", "p")
        self.wait_for("PID▼")
        self.keys("F1")
        self.wait_for("this help")
        self.keys("q")
        self.assert_left_as_found(0)

    def test_a_recording_runs_in_real_time(self):
        self.start("--replay", RECORDING, height=50, width=120)
        first = self.wait_for("every 0.2 s").splitlines()[0]
        self.wait_for(lambda text: text.splitlines()[0] != first)
        text = self.wait_for("nvjet")
        self.assertRegex(text, "[⠀-⣿]")
        self.keys("q")
        self.assert_left_as_found(0)

    def test_ascii_where_asked_and_where_the_locale_has_no_utf8(self):
        for arguments, environment in ((["--ascii"], {}), ([], {"LC_ALL": "C"})):
            with self.subTest(arguments=arguments):
                self.start("--replay", RECORDING, *arguments, environment=environment)
                text = self.wait_for("KERNEL")
                self.assertTrue(text.isascii(), text)
                self.keys("q")
                self.assert_left_as_found(0)

    def test_no_color(self):
        for environment, has_color in (({}, True), ({"NO_COLOR": "1"}, False)):
            with self.subTest(environment=environment):
                self.start(environment=environment)
                self.wait_for("F10 Quit")
                colored = self.screen("-e")
                self.assertEqual(has_color, "\x1b[30m" in colored or "\x1b[32m" in colored or
                                 "\x1b[46m" in colored or "\x1b[36m" in colored, colored)
                self.keys("q")
                self.assert_left_as_found(0)

    def test_lines_where_the_terminal_is_not_known(self):
        self.start("--count=2", environment={"TERM": "no-such-terminal"})
        text = self.wait_for("AFTER")
        self.assertIn("lines instead of a screen", text)
        self.assertIn("GPU-Util 80.0%", text)
        self.assertEqual("0", self.read("status"))

    def test_count_ends_it(self):
        self.start("--count=3")
        self.assert_left_as_found(0)


if __name__ == "__main__":
    if shutil.which("tmux") is None:
        print("skipped: there is no tmux")
    else:
        unittest.main()
