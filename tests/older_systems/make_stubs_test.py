"""What is linked with the stand-ins asks for nothing newer than they hold.

    make_stubs_test.py MAKE-STUBS COMPILER
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MAKE_STUBS, COMPILER = sys.argv[1:3]

# pow and pthread_create have an old version beside a new one, gettid and getcpu a new one alone.
OLD = """
#include <math.h>
#include <pthread.h>
#include <stdio.h>
void* Work(void* number) { return number; }
double Power(double x) {
  pthread_t thread;
  pthread_create(&thread, 0, Work, 0);
  fprintf(stderr, "%f", x);
  return pow(x, x);
}
"""
NEW = "int gettid(void);\nint Thread(void) { return gettid(); }\n"


class StubsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.stubs = cls.folder / "stubs of old"
        subprocess.run([sys.executable, "-B", MAKE_STUBS, "--maximum", "2.28", "--output",
                        cls.stubs, "--", COMPILER], check=True)

    def link(self, source, *options):
        library = self.folder / "library.so"
        done = subprocess.run(
            [COMPILER, "-x", "c", "-", "-shared", "-fPIC", "-Wl,-z,defs", "-o", library,
             *options, "-lm"], input=source, text=True, capture_output=True, check=False)
        versions = subprocess.run(["readelf", "--wide", "--version-info", library],
                                  capture_output=True, text=True, check=False).stdout
        return done, {tuple(map(int, version.split(".")))
                      for version in re.findall(r"Name: GLIBC_([0-9.]+)", versions)}

    def test_old_versions_are_bound_to(self):
        done, versions = self.link(OLD, f"-L{self.stubs}")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertLessEqual(max(versions), (2, 28))
        self.assertGreater(max(self.link(OLD)[1]), (2, 28))

    def test_what_is_newer_is_missing(self):
        done, _ = self.link(NEW, f"-L{self.stubs}")
        self.assertNotEqual(0, done.returncode)
        self.assertIn("gettid", done.stderr)
        self.assertEqual(0, self.link(NEW)[0].returncode)

    def test_the_files_are_named_as_the_real_ones(self):
        for name in ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"):
            dynamic = subprocess.run(["readelf", "--dynamic", self.stubs / name], check=True,
                                     capture_output=True, text=True).stdout
            self.assertIn(f"[{name}]", dynamic)

    def test_names_of_one_object_keep_one_address(self):
        text = subprocess.run(["readelf", "--wide", "--dyn-syms", self.stubs / "libc.so.6"],
                              check=True, capture_output=True, text=True).stdout
        fields = [line.split() for line in text.splitlines()]
        addresses = {line[1] for line in fields
                     if len(line) == 8 and re.match(r"_*environ@", line[7])}
        self.assertEqual(1, len(addresses))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
