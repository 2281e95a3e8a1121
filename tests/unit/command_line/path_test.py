"""utlz doctor notices another program of its name.

    path_test.py UTLZ
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

UTLZ = sys.argv[1]
WHEEL_COMMAND = "#!/usr/bin/python3\nfrom utlz._program import utlz\nutlz()\n"


class PathTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, name, text):
        path = self.folder / name / "utlz"
        path.parent.mkdir()
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def fact(self, *programs):
        path = ":".join(os.path.dirname(program) for program in programs)
        done = subprocess.run([UTLZ, "doctor", "--json"], capture_output=True, text=True,
                              check=False, env={"PATH": path, "HOME": str(self.folder)})
        document = json.loads(done.stdout)
        self.assertEqual("utlz.doctor/1", document["schema"])
        [fact] = [fact for fact in document["facts"] if fact["name"] == "name"]
        return fact

    def test_its_own(self):
        fact = self.fact(UTLZ)
        self.assertEqual(("ok", f"utlz in the PATH is {UTLZ}"), (fact["status"], fact["detail"]))
        self.assertNotIn("remedy", fact)

    def test_none(self):
        self.assertEqual("no utlz is in the PATH", self.fact("/nowhere/utlz")["detail"])

    def test_another_comes_first(self):
        other = self.program("other", "#!/bin/sh\n")
        fact = self.fact(other, UTLZ)
        self.assertEqual("warning", fact["status"])
        self.assertIn(f"{other}, another program than this one", fact["detail"])
        self.assertIn("PATH", fact["remedy"])

    def test_another_comes_later(self):
        other = self.program("other", "#!/bin/sh\n")
        fact = self.fact(UTLZ, other)
        self.assertEqual("ok", fact["status"])
        self.assertIn(f"another program of that name comes later: {other}", fact["detail"])

    def test_the_command_of_a_wheel_is_its_own(self):
        self.assertEqual("ok", self.fact(self.program("wheel", WHEEL_COMMAND))["status"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
