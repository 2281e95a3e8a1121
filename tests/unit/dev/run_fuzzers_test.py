#!/usr/bin/env python3
"""tools/dev/run_fuzzers with stand-ins for fuzzers: what one of them finds is never passed over."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[3] / "tools" / "dev" / "run_fuzzers"


class RunFuzzersTest(unittest.TestCase):

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="utlz-fuzzers-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.programs = self.root / "build" / "sanitizers" / "bin"
        self.programs.mkdir(parents=True)
        (self.root / "tools" / "dev").mkdir(parents=True)
        shutil.copy(SCRIPT, self.root / "tools" / "dev")
        self.add("make_seeds", 'mkdir -p "$2/fuzz_fine"')

    def add(self, name, text):
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    def run_fuzzers(self, *arguments):
        return subprocess.run([str(self.root / "tools" / "dev" / "run_fuzzers"), *arguments],
                              capture_output=True, text=True, timeout=60, check=False)

    def test_all_that_pass(self):
        for name in ("fuzz_fine", "fuzz_other", "fuzz_third"):
            self.add(name, 'echo "stat::number_of_executed_units: 12"')
        done = self.run_fuzzers("1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("all 3 fuzzers passed", done.stdout)
        self.assertRegex(done.stdout, r"fuzz_fine +passed: 12 inputs")

    def test_one_that_finds_something_fails_it_wherever_it_stands(self):
        for broken in ("fuzz_a", "fuzz_b", "fuzz_c", "fuzz_d"):
            for name in ("fuzz_a", "fuzz_b", "fuzz_c", "fuzz_d"):
                self.add(name, "echo ERROR: it broke; exit 77" if name == broken else "exit 0")
            done = self.run_fuzzers("1")
            self.assertEqual(done.returncode, 1, broken)
            self.assertIn(f"{broken} FAILED with status 77", done.stderr)
            self.assertIn("ERROR: it broke", done.stderr)

    def test_every_input_has_limits(self):
        self.add("fuzz_fine", 'echo "$@" > "$0.arguments"')
        self.assertEqual(self.run_fuzzers("7").returncode, 0)
        arguments = (self.programs / "fuzz_fine.arguments").read_text().split()
        self.assertIn("-max_total_time=7", arguments)
        for limit in ("-timeout=", "-rss_limit_mb=", "-malloc_limit_mb="):
            self.assertTrue(any(word.startswith(limit) for word in arguments), limit)
        self.assertTrue(arguments[-1].endswith("seeds/fuzz_fine"), arguments)

    def test_without_fuzzers_or_seeds_it_fails(self):
        self.assertEqual(self.run_fuzzers("1").returncode, 1)
        self.add("fuzz_fine", "exit 0")
        self.add("make_seeds", "exit 3")
        self.assertNotEqual(self.run_fuzzers("1").returncode, 0)


if __name__ == "__main__":
    unittest.main()
