"""Manual pages say what --help says, and man takes them without a warning.

    manual_page_test.py UTLZ
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

UTLZ = sys.argv[1]


def output_of(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


class ManualPageTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        output_of(UTLZ, "shell-files", folder.name)
        cls.pages = {path.name: path for path in
                     (pathlib.Path(folder.name) / "man/man1").iterdir()}
        listed = output_of(UTLZ, "--help").partition("Subcommands:")[2]
        cls.commands = re.findall(r"^  ([\w-]+)", listed, re.MULTILINE)

    def test_every_command_has_one(self):
        self.assertEqual({"utlz.1", *(f"utlz-{command}.1" for command in self.commands)},
                         set(self.pages))

    def test_options_are_those_of_the_help(self):
        for command in self.commands:
            help_text = output_of(UTLZ, command, "--help").partition("Options:")[2]
            options = re.findall(r"(?:^  |,)(--?[\w-]+)", help_text, re.MULTILINE)
            page = self.pages[f"utlz-{command}.1"].read_text(encoding="utf-8").replace("\\-", "-")
            described = [name for line in re.findall(r"\.TP\n(.*)", page)
                         for name in re.findall(r"\\fB(--?[\w-]+)", line)]
            self.assertEqual(sorted(options), sorted(described), command)

    def test_pages_are_shown_without_a_warning(self):
        if shutil.which("groff") is None:
            self.skipTest("there is no groff here")
        for page in self.pages.values():
            done = subprocess.run(["groff", "-k", "-man", "-Tutf8", "-ww", page],
                                  capture_output=True, text=True, check=True)
            self.assertEqual("", done.stderr)
            # Bold letters are printed twice.
            self.assertIn("SYNOPSIS", re.sub(".\x08", "", done.stdout))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
