"""Each command of utlz that README and guide show runs as it stands there.

Blocks of one page run in order, in one folder. The programs that a reader has and we have not
(python, torchrun, sudo) are stand-ins in the PATH: they run a program of the tests on the fake GPU.
Profiles that no command of the page writes are recordings of the same.
"""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import unittest

from attaching import AttachTest, Followed
from harness import FAKES, STAGE, TIME_LIMIT_S, UTLZ

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md")))
COMMAND = re.compile(r"(?:sudo )?utlz(?:-run|-attach)? ")
# As many as there were when this test was written: reading none is no success.
LEAST_COMMANDS = 40

TRAINING = 'exec "$UTLZ_TEST_PROGRAM"\n'
STAND_INS = {"python": TRAINING, "torchrun": TRAINING, "sudo": 'exec "$@"\n'}
# A service runs until somebody ends it, and what it and a history leave is not there without it: tests
# of their own run these.
OF_A_SERVICE = re.compile(r"utlz collector|utlz report (--since|~)")
NOT_A_PROCESS_OF_OURS = re.compile(r"\b(PID|\d{4,})$")
# The gate's: passed, failed, undecided because runs as short as these are too uncertain.
VERDICTS = (0, 1, 3)
# On a busy machine one of the runs may end before it has counters. The gate refuses them then, by 4.
REFUSAL = "numbers come from different sources"
# What a Hugging Face decoder's folder has.
CONFIG = """{"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100,
 "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
"""


def shown_commands(text):
    """The command lines of utlz in code blocks that have no language: what a reader would paste."""
    language = None
    continued = ""
    for line in text.splitlines():
        if line.startswith("```"):
            language = line[3:].strip() if language is None else None
        elif language == "":
            continued += re.sub(r"\s+#.*", "", line)
            if continued.endswith("\\"):
                continued = continued[:-1]
                continue
            if (COMMAND.match(continued) and "…" not in continued
                    and not OF_A_SERVICE.search(continued)):
                yield continued
            continued = ""


class ShownCommands(AttachTest):

    def setUp(self):
        super().setUp()
        tools = self.folder / "bin"
        tools.mkdir()
        for name, script in STAND_INS.items():
            self.write_script(tools / name, script)
        self.write_script(self.folder / "nightly.sh", TRAINING)
        (self.folder / "config.json").write_text(CONFIG)
        libraries = self.folder / "venv/lib/python3/site-packages/nvidia/cu13/lib"
        libraries.mkdir(parents=True)
        shutil.copy(FAKES / "libcublasLt.so.13", libraries)
        self.test_environment = self.environment(
            "instant=1", VIRTUAL_ENV=str(self.folder / "venv"),
            PATH=f"{tools}:{STAGE}/bin:{os.environ['PATH']}",
            XDG_STATE_HOME=str(self.folder / "state"),
            UTLZ_TEST_PROGRAM=self.program("ending"))

    def write_script(self, path, text):
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def provide(self, words):
        """Files that the command reads and no earlier one wrote."""
        written = {words[i + 1] for i, word in enumerate(words[:-1]) if word == "-o"}
        for word in words:
            path = self.folder / word
            if word in written or path.exists():
                continue
            if word.endswith(".utlz") or word == "PROFILE":
                path.parent.mkdir(exist_ok=True)
                self.provide_profile(path)
            elif "libcupti.so" in word:
                path.parent.mkdir(parents=True)
                shutil.copy(FAKES / "libcupti.so.13", path)

    def provide_profile(self, path):
        """Of the run that another command read or wrote, so that they can be compared and merged."""
        there = sorted(self.folder.glob("*.utlz"))
        if there:
            shutil.copy(there[0], path)
            return
        done = self.utlz("run", "--no-report", "-o", path.name, "--", "python",
                         environment=self.test_environment)
        self.assertEqual(done.returncode, 0, done.stderr)

    def provide_ranks(self, names):
        """Runs that overlap in time, as ranks of one job do."""
        waits = 'echo ready; read line; exec "$UTLZ_TEST_PROGRAM"'
        running = [Followed([str(UTLZ), "run", "--counters=none", "--no-report", "-o", name, "--",
                             "sh", "-c", waits],
                            "stdout", env=self.test_environment, cwd=self.folder,
                            stdin=subprocess.PIPE) for name in names]
        for run in running:
            self.addCleanup(run.close)
            run.wait_for("ready")
        for run in running:
            run.process.stdin.write("go\n")
            run.process.stdin.flush()
        for run in running:
            self.assertEqual(run.end(), 0, run.said)

    def run_shown(self, line):
        """The exit status, and what it said."""
        words = shlex.split(line.removesuffix("&"))
        self.provide(words)
        if " attach " in line:
            return self.run_attach(words)
        if " top" in line:
            return self.run_top(words)
        if " merge " in line:
            self.provide_ranks([word for word in words[:words.index("-o")]
                                if word.endswith(".utlz")])
        # A port of the machine's may be in use.
        line = re.sub(r"--metrics \d+", "--metrics 0", line)
        done = subprocess.run(["sh", "-c", line], env=self.test_environment, cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=TIME_LIMIT_S, check=False)
        return done.returncode, done.stdout + done.stderr

    def run_attach(self, words):
        """Ends a recording as Ctrl-C does, once it traces."""
        program = self.start(environment=self.test_environment)
        words = [NOT_A_PROCESS_OF_OURS.sub(str(program.pid), word) for word in words]
        tool = Followed(words, "stderr", env=self.test_environment, cwd=self.folder,
                        stdin=subprocess.DEVNULL)
        self.addCleanup(tool.close)
        tool.wait_for("tracing")
        tool.process.send_signal(signal.SIGINT)
        status = tool.end()
        program.quit()
        return status, tool.said

    def run_top(self, words):
        """Ends it as Ctrl-C does, once it has shown something."""
        environment = self.test_environment | {
            "LD_LIBRARY_PATH": f"{FAKES}:{os.environ.get('UTLZ_FAKE_NVML', '')}"}
        tool = Followed(words, "stderr", env=environment, cwd=self.folder,
                        stdin=subprocess.DEVNULL)
        self.addCleanup(tool.close)
        self.assertTrue(tool.line())
        tool.process.send_signal(signal.SIGINT)
        status = tool.end()
        return (0 if status == -signal.SIGINT else status), tool.said

    def run_page(self, page):
        for line in shown_commands(page.read_text(encoding="utf-8")):
            with self.subTest(page=page.name, command=line):
                status, said = self.run_shown(line)
                if "utlz gate" in line and REFUSAL in said:
                    self.assertEqual(status, 4, said)
                    continue
                self.assertIn(status, VERDICTS if "utlz gate" in line else (0,), said)


class EnoughCommands(unittest.TestCase):

    def test_pages_show_commands_that_this_test_finds(self):
        found = [line for page in PAGES for line in shown_commands(page.read_text(encoding="utf-8"))]
        self.assertGreaterEqual(len(found), LEAST_COMMANDS)

    def test_a_continued_line_is_one_command(self):
        self.assertEqual(list(shown_commands("```\nutlz gate A \\\n    B  # why\nls\n```\n")),
                         ["utlz gate A     B"])


def test_of(page):
    def test(self):
        self.run_page(page)
    return test


for each in PAGES:
    setattr(ShownCommands, "test_" + each.stem.lower().replace("-", "_"), test_of(each))


if __name__ == "__main__":
    unittest.main()
