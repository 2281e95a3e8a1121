"""A run whose metrics are asked for while it goes on, and what is on its pages."""

import http.client
import pathlib
import re
import signal
import socket
import subprocess
import time

from harness import TIME_LIMIT_S, UTLZ, EndToEndTest

SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([A-Za-z_]+)="((?:[^"\\]|\\.)*)"')


def samples_of(page):
    """Values by name and labels of a page of either format."""
    samples = {}
    for line in page.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        assert match, f"no sample: {line!r}"
        labels = tuple(LABEL.findall(match[2] or ""))
        assert (match[1], labels) not in samples, f"twice: {line}"
        samples[match[1], labels] = float(match[3])
    return samples


def total(samples, name, **labels):
    """The sum of what has this name and these labels; None where nothing has."""
    values = [value for (sample, pairs), value in samples.items()
              if sample == name and labels.items() <= dict(pairs).items()]
    return sum(values) if values else None


class LiveRun:
    """A `utlz run` that goes on."""

    def __init__(self, test, place, program, *arguments, options=()):
        self.test = test
        self.process = subprocess.Popen(
            [str(UTLZ), "run", "-o", str(test.folder / "run.utlz"), "--no-report",
             "--metrics", place, *options, "--", test.program(program), *arguments],
            env=test.environment(), cwd=test.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        test.addCleanup(self.end)
        line = self.process.stderr.readline()
        match = re.match(r"utlz: metrics: (?:http://([0-9.]+):(\d+)/metrics|unix:(.*))$", line)
        test.assertTrue(match, line)
        self.address = (match[1], int(match[2])) if match[1] else match[3].strip()

    def connect(self):
        family = socket.AF_UNIX if isinstance(self.address, str) else socket.AF_INET
        client = socket.socket(family, socket.SOCK_STREAM)
        client.settimeout(TIME_LIMIT_S)
        client.connect(self.address)
        return client

    def get(self, path="/metrics", accept=None):
        with self.connect() as client:
            connection = http.client.HTTPConnection("utlz")
            connection.sock = client
            connection.request("GET", path, headers={"Accept": accept} if accept else {})
            response = connection.getresponse()
            return response.status, response.getheader("Content-Type"), response.read().decode()

    def samples(self):
        return samples_of(self.get()[2])

    def samples_with(self, *names):
        """The first page that has all of these metrics."""
        while self.process.poll() is None:
            samples = self.samples()
            if all(total(samples, name) for name in names):
                return samples
            time.sleep(0.05)
        self.test.fail(f"the run is over, and its metrics lacked one of {names}:\n"
                       + self.process.stderr.read())

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=TIME_LIMIT_S)


def run_with(profile):
    """What report() takes, of a run whose output is of no interest."""
    class Finished:
        pass
    finished = Finished()
    finished.profile = pathlib.Path(profile)
    return finished


class LiveMetricsTest(EndToEndTest):

    # Ended by its signal long before: sanitizers make the collector slow.
    # A test that looks at no counters asks for none: they are most of what the collector works on.
    def live(self, place="127.0.0.1:0", seconds="600", options=(), counters="sample"):
        return LiveRun(self, place, "training_steps", seconds, options=(
            f"--counters={counters}", "--overhead-budget=unlimited", *options))
