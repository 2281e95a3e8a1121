"""The wheel: the same bytes twice, small, and installable without a network or a compiler.

    wheel_test.py BUILD-FOLDER
"""

import base64
import csv
import hashlib
import importlib.util
import io
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = sys.argv[1]
MOST_BYTES = 15 << 20


def make_wheel(folder):
    subprocess.run([sys.executable, "-B", ROOT / "tools/dev/make_wheel.py", BUILD, folder],
                   check=True, stdout=subprocess.DEVNULL)
    [wheel] = pathlib.Path(folder).glob("*.whl")
    return wheel


class WheelTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.wheel = make_wheel(cls.folder / "first")
        cls.archive = zipfile.ZipFile(cls.wheel)
        cls.addClassCleanup(cls.archive.close)

    def test_two_are_the_same_byte_for_byte(self):
        second = make_wheel(self.folder / "second")
        self.assertEqual(self.wheel.name, second.name)
        self.assertEqual(self.wheel.read_bytes(), second.read_bytes())

    def test_it_is_small(self):
        print(f"{self.wheel.name}: {self.wheel.stat().st_size} bytes", file=sys.stderr)
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)

    def test_its_name_says_what_its_files_need(self):
        match = re.fullmatch(r"utlz-[\d.]+-py3-none-manylinux_2_(\d+)_(x86_64|aarch64)\.whl",
                             self.wheel.name)
        self.assertIsNotNone(match, self.wheel.name)
        for name in self.archive.namelist():
            if self.archive.read(name)[:4] != b"\x7fELF":
                continue
            path = self.archive.extract(name, self.folder / "files")
            text = subprocess.run(["readelf", "--wide", "--version-info", path], check=True,
                                  capture_output=True, text=True).stdout
            newest = max(int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", text))
            self.assertLessEqual(newest, int(match[1]), name)

    def test_the_record_lists_every_file(self):
        [name] = [name for name in self.archive.namelist() if name.endswith("/RECORD")]
        rows = list(csv.reader(io.StringIO(self.archive.read(name).decode())))
        self.assertEqual(sorted(self.archive.namelist()), sorted(row[0] for row in rows))
        for path, digest, size in rows:
            if path == name:
                continue
            data = self.archive.read(path)
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            self.assertEqual((f"sha256={expected}", str(len(data))), (digest, size), path)

    def test_programs_can_be_executed_and_no_one_else_may_write(self):
        modes = {entry.filename: entry.external_attr >> 16 for entry in self.archive.infolist()}
        self.assertEqual(0o755, stat.S_IMODE(modes["utlz/_data/bin/utlz"]))
        self.assertEqual(0o755, stat.S_IMODE(modes["utlz/_data/lib/utlz/utlz-demo-load"]))
        self.assertEqual({0o644, 0o755}, {stat.S_IMODE(mode) for mode in modes.values()})

    def test_it_installs_without_a_network_and_works(self):
        if importlib.util.find_spec("ensurepip") is None:
            self.skipTest("python3 cannot make virtual environments here (package python3-venv)")
        environment = self.folder / "environment"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        commands = environment / "bin"
        subprocess.run([commands / "pip", "install", "--quiet", "--no-index",
                        "--disable-pip-version-check", self.wheel], check=True)
        clean = {"PATH": f"{commands}:/usr/bin:/bin", "HOME": str(self.folder)}
        def output_of(*command):
            return subprocess.run(command, check=True, capture_output=True, text=True, env=clean,
                                  cwd=self.folder).stdout
        self.assertRegex(output_of("utlz", "--version"), r"^utlz [\d.]+\n$")
        self.assertIn("recording", output_of("utlz", "demo", "--recording").splitlines()[0])
        self.assertIn("utlz attach", output_of("utlz-attach", "--help"))
        done = subprocess.run(["utlz-run", "--counters=none", "-o", "a.utlz", "--", "sh", "-c",
                               "exit 3"], capture_output=True, check=False, env=clean,
                              cwd=self.folder)
        self.assertEqual(3, done.returncode, done.stderr)
        demo = next(environment.glob("lib/python*/site-packages/utlz/_data/share/utlz/demo.utlz"))
        self.assertRegex(output_of("python", "-c", "import sys, utlz; "
                                   "print(utlz.load(sys.argv[1]))", str(demo)),
                         r"kernels, 3\d\d steps>")
        self.assertTrue((environment / "share/man/man1/utlz-report.1").exists())
        self.assertIn("Successfully uninstalled",
                      output_of("pip", "uninstall", "--yes", "utlz"))
        self.assertFalse((commands / "utlz").exists())

    def test_conda_installs_it(self):
        conda = shutil.which("conda") or shutil.which("mamba") or shutil.which("micromamba")
        if conda is None:
            self.skipTest("there is no Conda here")
        base = subprocess.run([conda, "run", "-n", "base", "python", "-m", "venv", "--help"],
                              capture_output=True, check=False)
        self.assertEqual(0, base.returncode)
        target = self.folder / "of_conda"
        subprocess.run([conda, "run", "-n", "base", "pip", "install", "--no-index", "--target",
                        target, self.wheel], check=True)
        self.assertTrue(os.access(target / "utlz/_data/bin/utlz", os.X_OK))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
