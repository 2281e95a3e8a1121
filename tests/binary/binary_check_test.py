"""The check of linked files must find what it is there to find."""

import argparse
import os
import subprocess
import tempfile
import unittest

import check_binary
from elf_file import ElfFile

SOURCE = """
#include <math.h>
__attribute__((visibility("default"))) int InitializeInjection(void) { return 1; }
%s
"""


class BinaryCheckTest(unittest.TestCase):

    def problems(self, extra="", link=(), **promises):
        arguments = argparse.Namespace(exports=None, optional_exports=[], needed=[], glibc=None)
        vars(arguments).update(promises)
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "library.so")
            subprocess.run([os.environ.get("CC", "cc"), "-x", "c", "-", "-shared", "-fPIC",
                            "-fvisibility=hidden", "-o", library, *link],
                           input=SOURCE % extra, text=True, check=True)
            return check_binary.problems_of(ElfFile(library), arguments)

    def test_accepts_what_was_promised(self):
        self.assertEqual([], self.problems(exports=["InitializeInjection"], glibc="2.34"))

    def test_finds_an_export_too_many_and_one_too_few(self):
        extra = '__attribute__((visibility("default"))) int leaked;'
        self.assertEqual(["exports leaked, which no one may bind to", "does not export Promised"],
                         self.problems(extra, exports=["InitializeInjection", "Promised"]))
        self.assertEqual([], self.problems(extra, exports=["InitializeInjection"],
                                           optional_exports=["leaked"]))

    def test_finds_a_library_too_many(self):
        link = ["-Wl,--no-as-needed", "-lgcc_s"]
        self.assertEqual(["needs libgcc_s.so.1"], self.problems(link=link))
        self.assertEqual([], self.problems(link=link, needed=["libgcc_s.so.1"]))

    def test_finds_a_version_too_new(self):
        extra = "double Power(double x) { return pow(x, x); }\ndouble (*power)(double) = Power;"
        self.assertEqual(["needs GLIBC_2.29, newer than 2.28"],
                         self.problems(extra, link=["-lm"], glibc="2.28"))

    def test_finds_a_run_path(self):
        problems = self.problems(link=["-Wl,-rpath,/somewhere"])
        self.assertEqual(1, len(problems))
        self.assertIn("/somewhere", problems[0])


if __name__ == "__main__":
    unittest.main()
