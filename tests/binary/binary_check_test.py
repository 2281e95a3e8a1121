"""The check of linked files must find what it is there to find."""

import argparse
import os
import platform
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
        arguments = argparse.Namespace(exports=None, optional_exports=[], needed=[], glibc=None,
                                       hardened=False, guarded_entry=None, not_in_it=None,
                                       stripped_size=None)
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

    def test_finds_a_file_too_large(self):
        extra = "int table[1 << 16] = {1};\nint First(void) { return table[0]; }"
        self.assertEqual([], self.problems(stripped_size="100K"))
        problems = self.problems(extra, stripped_size="100K")
        self.assertEqual(1, len(problems))
        self.assertRegex(problems[0], r"^has \d{6} bytes when stripped, more than 100K$")

    def test_finds_a_run_path(self):
        problems = self.problems(link=["-Wl,-rpath,/somewhere"])
        self.assertEqual(1, len(problems))
        self.assertIn("/somewhere", problems[0])


    HARDENED = ["-O2", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2",
                "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack"]
    # Copies what it is given into memory on its stack, so that both guards are needed.
    COPIES = """
    #include <string.h>
    __attribute__((visibility("default"))) int Copy(const char* text, unsigned long size) {
      char bytes[64];
      memcpy(bytes, text, size);
      return bytes[size % 64];
    }
    """

    def hardening(self, *less):
        return self.problems(self.COPIES, link=[*self.HARDENED, *less], hardened=True)

    def test_accepts_what_is_hardened(self):
        self.assertEqual([], self.hardening())

    def test_finds_each_protection_that_is_missing(self):
        for less, problem in (
                (["-fno-stack-protector"], "has no stack protector"),
                (["-U_FORTIFY_SOURCE"], "calls no checked functions (_FORTIFY_SOURCE)"),
                (["-Wl,-z,lazy"], "binds lazily (no BIND_NOW)"),
                (["-Wl,-z,norelro"], "has no GNU_RELRO: its addresses stay writable"),
                (["-Wl,-z,execstack"], "has an executable stack, or does not say")):
            with self.subTest(less=less):
                self.assertIn(problem, self.hardening(*less))

    @unittest.skipUnless(platform.machine() == "x86_64", "other processors mark other places")
    def test_finds_an_entry_that_is_not_guarded(self):
        entry = {"guarded_entry": "InitializeInjection"}
        self.assertEqual([], self.problems(link=["-fcf-protection=full"], **entry))
        [problem] = self.problems(link=["-fcf-protection=none"], **entry)
        self.assertIn("compiled without control-flow protection", problem)

    def test_finds_the_folder_that_it_was_built_in(self):
        extra = '__attribute__((used)) static const char file[] = "/home/me/a.cc";'
        self.assertEqual([], self.problems(extra, not_in_it="/home/you"))
        [problem] = self.problems(extra, not_in_it="/home/me")
        self.assertIn("/home/me", problem)


if __name__ == "__main__":
    unittest.main()
