"""`utlz export --format pprof` of the bundled recording, read by a decoder of its own and, where it
is installed, by `go tool pprof`.

    pprof_test.py UTLZ
"""

import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
DEMO = ROOT / "data/demo.utlz"
UTLZ = sys.argv[1]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields_of(data):
    """Yields (number, value) of a protobuf message: an integer, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def numbers_of(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


class Pprof:
    def __init__(self, data):
        fields = collections.defaultdict(list)
        for number, value in fields_of(gzip.decompress(data)):
            fields[number].append(value)
        self.strings = [text.decode("utf-8") for text in fields[6]]
        functions = {message[1]: self.strings[message[2]]
                     for message in map(dict, map(fields_of, fields[5]))}
        locations = {}
        for message in map(dict, map(fields_of, fields[4])):
            locations[message[1]] = functions[dict(fields_of(message[4]))[1]]
        self.types = [tuple(self.strings[text] for _, text in fields_of(message))
                      for message in fields[1]]
        self.samples = []
        for sample in fields[2]:
            message = collections.defaultdict(list)
            for number, value in fields_of(sample):
                message[number].append(value)
            stack = [locations[at] for at in numbers_of(message[1][0])]
            labels = {self.strings[label[1]]: self.strings[label[2]] if 2 in label else label[3]
                      for label in map(dict, map(fields_of, message[3]))}
            self.samples.append((stack, list(numbers_of(message[2][0])), labels))

    def total(self, name):
        index = [name_of_type for name_of_type, _ in self.types].index(name)
        return sum(values[index] for _, values, _ in self.samples)


def go():
    """The Go command: in PATH, or what UTLZ_GO names."""
    return os.environ.get("UTLZ_GO") or shutil.which("go")


class PprofTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.file = pathlib.Path(folder.name) / "demo.pb.gz"
        subprocess.run([UTLZ, "export", DEMO, "--format", "pprof", "-o", cls.file], check=True,
                       stderr=subprocess.DEVNULL)
        cls.pprof = Pprof(cls.file.read_bytes())
        report = subprocess.run([UTLZ, "report", "--format", "json", DEMO], check=True,
                                capture_output=True, text=True).stdout
        cls.report = json.loads(report)

    def test_sums_are_the_reports(self):
        kernels = self.report["kernels"]
        for name, field in (("gpu_time", "time_ns"), ("launches", "launches"), ("flops", "flops"),
                            ("dram_bytes", "dram_bytes")):
            with self.subTest(type=name):
                self.assertEqual(sum(int(kernel.get(field, 0) + 0.5) for kernel in kernels),
                                 self.pprof.total(name))
        self.assertEqual(sum(device["idle_time_ns"] for device in self.report["devices"]),
                         self.pprof.total("idle_time"))

    def test_each_kernel_has_its_time(self):
        times = collections.Counter()
        for stack, values, _ in self.pprof.samples:
            times[stack[0]] += values[0]
        for kernel in self.report["kernels"]:
            self.assertEqual(int(kernel["time_ns"] + 0.5), times[kernel["short_name"]])

    def test_samples_are_labelled(self):
        for _, _, labels in self.pprof.samples:
            self.assertRegex(labels["device"], r"^0: NVIDIA")
            self.assertIn(labels["phase"], ("steady", "before the steady part",
                                            "after the steady part"))

    @unittest.skipUnless(go(), "go is not installed: apt-get install golang-go, or set UTLZ_GO")
    def test_go_opens_it(self):
        for name, unit in self.pprof.types:
            done = subprocess.run([go(), "tool", "pprof", "-top", "-nodecount=0",
                                   f"-sample_index={name}", "-unit=ns" if unit == "nanoseconds"
                                   else "-unit=", self.file],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(0, done.returncode, done.stderr)
            if unit == "nanoseconds":
                total = re.search(r"of ([0-9.]+(?:e\+\d+)?)ns total", done.stdout)
                self.assertIsNotNone(total, done.stdout)
                self.assertAlmostEqual(1, float(total[1]) / self.pprof.total(name), places=6)
        raw = subprocess.run([go(), "tool", "pprof", "-raw", self.file], capture_output=True,
                             text=True, check=True).stdout
        self.assertIn(self.report["kernels"][0]["short_name"], raw)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
