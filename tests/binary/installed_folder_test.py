"""An installed folder is complete, and works after it was moved.

    installed_folder_test.py CMAKE BUILD-FOLDER
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD = sys.argv[1:3]

FILES = {"bin/utlz", "bin/utlz-run", "lib/libutlz_inject.so", "lib/utlz/utlz-demo-load",
         "share/man/man1/utlz-report.1", "share/bash-completion/completions/utlz-run",
         "share/utlz/demo.utlz", "share/doc/utlz/README.md", "share/doc/utlz/LICENSE",
         "share/doc/utlz/THIRD_PARTY_LICENSES"}
LINKED = ("libabsl-dev", "libcli11-dev", "libeigen3-dev", "libncurses-dev", "libprotobuf-dev",
          "libxxhash-dev", "libzstd-dev", "zlib1g-dev")


class InstalledFolderTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        first = pathlib.Path(folder.name) / "first place"
        subprocess.run([CMAKE, "--install", BUILD, "--strip", "--prefix", str(first)], check=True,
                       stdout=subprocess.DEVNULL, env=cls.environment())
        cls.prefix = first.rename(pathlib.Path(folder.name) / "moved")

    @staticmethod
    def environment():
        return {key: value for key, value in os.environ.items() if key != "DESTDIR"}

    def run_installed(self, *arguments):
        return subprocess.run([self.prefix / arguments[0], *arguments[1:]], capture_output=True,
                              text=True, check=False, cwd=self.prefix, env=self.environment())

    def test_everything_is_there(self):
        missing = {name for name in FILES if not (self.prefix / name).exists()}
        self.assertEqual(set(), missing)

    def test_what_is_linked_has_its_licence(self):
        text = (self.prefix / "share/doc/utlz/THIRD_PARTY_LICENSES").read_text(encoding="utf-8")
        for name in LINKED:
            with self.subTest(library=name):
                self.assertRegex(text, rf"==== {name} ====\n\n(?!====)")
        for licence in ("Apache", "BSD", "MPL", "Redistribution and use"):
            self.assertIn(licence, text)

    def test_names_are_relative_links(self):
        self.assertEqual("utlz", os.readlink(self.prefix / "bin/utlz-run"))

    def test_the_program_starts(self):
        done = self.run_installed("bin/utlz", "--version")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, r"^utlz \d+\.\d+\.\d+\n$")

    def test_run_finds_the_agent_and_keeps_the_exit_status(self):
        done = self.run_installed("bin/utlz-run", "--counters=none", "-o", "a.utlz", "--", "sh",
                                  "-c", "echo out; exit 3")
        self.assertEqual((3, "out\n"), (done.returncode, done.stdout), done.stderr)

    def test_the_demonstration_finds_its_recording(self):
        done = self.run_installed("bin/utlz", "demo", "--recording")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("recording", done.stdout.splitlines()[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
