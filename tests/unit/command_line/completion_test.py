"""utlz completion, asked the way the shells ask.

    completion_test.py UTLZ
"""

import re
import shutil
import subprocess
import sys
import unittest

UTLZ = sys.argv[1]

# Prints what bash would offer for the last word.
BASH = """
source /dev/stdin <<< "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
"_utlz"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def output_of(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


class BashTest(unittest.TestCase):

    def offered(self, *words):
        script = output_of(UTLZ, "completion", "bash")
        return output_of("bash", "--norc", "-c", BASH, "bash", script, *words).split()

    def test_commands_are_those_of_the_help(self):
        listed = output_of(UTLZ, "--help").partition("Subcommands:")[2]
        commands = re.findall(r"^  ([\w-]+)", listed, re.MULTILINE)
        self.assertIn("report", commands)
        self.assertEqual([*commands, "--help", "--version"], self.offered("utlz", ""))
        self.assertEqual(["report"], self.offered("utlz", "rep"))

    def test_options_are_those_of_the_help(self):
        for command in ("report", "run", "gate"):
            help_text = output_of(UTLZ, command, "--help").partition("Options:")[2]
            options = re.findall(r"(?:^  |,)(--?[\w-]+)", help_text, re.MULTILINE)
            self.assertGreater(len(options), 3)
            self.assertEqual(sorted(options), sorted(self.offered("utlz", command, "-")))

    def test_values(self):
        formats = {"text", "json", "csv", "html", "markdown"}
        self.assertEqual(formats, set(self.offered("utlz", "report", "--format", "")))
        self.assertEqual(formats, set(self.offered("utlz", "report", "--format", "=")))
        self.assertEqual(["markdown"], self.offered("utlz", "report", "--format", "=", "ma"))
        self.assertEqual(["bash", "fish", "zsh"], self.offered("utlz", "completion", ""))

    def test_other_names(self):
        self.assertIn("--delay", self.offered("utlz-run", "--"))
        self.assertIn("--all", self.offered("/somewhere/utlz-attach", "--"))

    def test_what_runs_has_its_own_options(self):
        self.assertIn("bash", self.offered("utlz", "run", "bas"))
        self.assertIn("bash", self.offered("utlz-run", "--delay", "3", "--nvtx", "bas"))
        self.assertEqual([], self.offered("utlz", "run", "-o", "bas"))
        for words in (("run", "ls"), ("run", "--"), ("run", "--delay", "3", "ls"),
                      ("run", "--delay", "=", "3", "ls")):
            self.assertEqual([], self.offered("utlz", *words, "-"), words)


class OtherShellsTest(unittest.TestCase):

    def script(self, shell):
        return output_of(UTLZ, "completion", shell)

    def test_every_command_and_option_is_there(self):
        listed = output_of(UTLZ, "--help").partition("Subcommands:")[2]
        for shell in ("zsh", "fish"):
            script = self.script(shell)
            for command in re.findall(r"^  ([\w-]+)", listed, re.MULTILINE):
                self.assertIn(command, script)
            self.assertIn("recompute", script)
            self.assertIn("text", script)

    def test_scripts_are_of_their_language(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell=shell):
                if shutil.which(shell) is None:
                    self.skipTest(f"there is no {shell} here")
                output_of(shell, "-n", input=self.script(shell))

    def test_fish_offers_them(self):
        if shutil.which("fish") is None:
            self.skipTest("there is no fish here")
        def offered(line):
            text = output_of("fish", "--no-config", "-c",
                             f"source (printf %s $argv[1] | psub); complete -C '{line}'",
                             self.script("fish"))
            return {entry.split("\t")[0] for entry in text.splitlines()}
        self.assertIn("report", offered("utlz "))
        self.assertLessEqual({"text", "json", "html"}, offered("utlz report --format "))
        self.assertIn("--delay", offered("utlz-run --"))

    def test_an_unknown_shell_is_refused(self):
        done = subprocess.run([UTLZ, "completion", "tcsh"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("bash fish zsh", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
