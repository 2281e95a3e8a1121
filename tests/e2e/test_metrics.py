"""Metrics of a run while it goes on: scraped as Prometheus does, and as nobody should."""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.parse

from harness import EndToEndTest, TIME_LIMIT_S, UTLZ

SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([A-Za-z_]+)="((?:[^"\\]|\\.)*)"')
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
MONITORING = pathlib.Path(__file__).parents[2] / "docs" / "monitoring"
PROMTOOL = os.environ.get("UTLZ_PROMTOOL") or shutil.which("promtool")
PROMETHEUS = os.environ.get("UTLZ_PROMETHEUS") or shutil.which("prometheus")


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


class Prometheus:
    """A real server that scrapes one target every second."""

    def __init__(self, folder, target):
        rules = (MONITORING / "rules.yml").read_text("utf-8").replace("interval: 15s", "interval: 1s")
        (folder / "rules.yml").write_text(rules, "utf-8")
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            "rule_files: [rules.yml]\n"
            f"scrape_configs: [{{job_name: utlz, static_configs: [{{targets: ['{target}']}}]}}]\n",
            "utf-8")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [PROMETHEUS, f"--web.listen-address=127.0.0.1:{self.port}",
             f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/series"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(TIME_LIMIT_S)

    def query(self, expression):
        """The values; raises ValueError where the server refuses the query."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIME_LIMIT_S)
        connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        answer = json.loads(connection.getresponse().read())
        connection.close()
        if answer["status"] != "success":
            raise ValueError(f"{expression}: {answer}")
        return [float(result["value"][1]) for result in answer["data"]["result"]]

    def query_until(self, expression):
        """The values, once there are any."""
        while self.process.poll() is None:
            try:
                if values := self.query(expression):
                    return values
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                pass  # it starts
            time.sleep(0.1)
        raise AssertionError("Prometheus ended")


class MetricsTest(EndToEndTest):
    # Ended by its signal long before: sanitizers make the collector slow.
    def live(self, place="127.0.0.1:0", seconds="600", options=()):
        return LiveRun(self, place, "training_steps", seconds, options=(
            "--counters=sample", "--overhead-budget=unlimited", *options))

    def test_what_a_run_did(self):
        """The program's kernels have known FLOPs and bytes: the counters say so, and only grow."""
        run = self.live()
        before = run.samples_with("utlz_flops_total", "utlz_hfu_ratio")
        pid = next(dict(labels)["pid"] for (name, labels) in before if name == "utlz_flops_total")
        launched = total(before, "utlz_kernel_launches_total")
        while True:
            after = run.samples_with("utlz_flops_total")
            for series, value in before.items():
                if series[0].endswith("_total"):
                    self.assertGreaterEqual(after.get(series, 0), value, series)
            if total(after, "utlz_kernel_launches_total") > launched:
                break
        gemms = total(after, "utlz_kernel_launches_total", family="gemm")
        flops = total(after, "utlz_flops_total")
        self.assertAlmostEqual(flops / gemms, 1e11, delta=1e10)
        every_launch = total(after, "utlz_kernel_launches_total") / gemms
        self.assertAlmostEqual(every_launch, 18 / 4, delta=0.2)
        self.assertLess(total(after, "utlz_hfu_ratio"), 1)
        self.assertEqual(total(before, "utlz_processes"), 1)
        labels = dict(next(labels for (name, labels) in after
                           if name == "utlz_kernel_seconds_total"))
        self.assertEqual(labels["UUID"], self.fake_gpu)
        self.assertEqual(labels["process"], "training_steps")
        self.assertEqual(labels["pid"], pid)
        self.assertIn("modelName", labels)
        self.assertIn("Hostname", labels)

    def test_both_formats(self):
        run = self.live()
        run.samples_with("utlz_flops_total")
        status, content_type, text = run.get()
        self.assertEqual((status, content_type), (200, "text/plain; version=0.0.4; charset=utf-8"))
        status, content_type, page = run.get(accept=OPEN_METRICS)
        self.assertEqual(status, 200)
        self.assertTrue(content_type.startswith("application/openmetrics-text; version=1.0.0"))
        self.assertTrue(page.endswith("# EOF\n"))
        self.assertIn("# TYPE utlz_flops counter", page)
        self.assertIn("# TYPE utlz_flops_total counter", text)
        names = {name for name, _ in samples_of(text)}
        self.assertLessEqual({name for name, _ in samples_of(page)} ^ names, {"utlz_hfu_ratio"})

    @unittest.skipUnless(PROMTOOL, "no promtool here: Debian's package prometheus has it")
    def test_promtool_finds_nothing(self):
        run = self.live()
        run.samples_with("utlz_flops_total", "utlz_hfu_ratio")
        checked = subprocess.run([PROMTOOL, "check", "metrics"], input=run.get()[2], text=True,
                                 capture_output=True, check=False)
        told = (checked.stdout + checked.stderr).splitlines()
        # modelName is DCGM's name, and joins with DCGM's metrics.
        self.assertEqual([line for line in told if not line.endswith("not 'camelCase'")], [])

    @unittest.skipUnless(PROMTOOL, "no promtool here: Debian's package prometheus has it")
    def test_rules(self):
        for command in (["check", "rules", "rules.yml"], ["test", "rules", "rules_test.yml"]):
            checked = subprocess.run([PROMTOOL, *command], cwd=MONITORING, text=True,
                                     capture_output=True, check=False)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    @unittest.skipUnless(PROMETHEUS, "no prometheus here: Debian's package of this name has it")
    def test_prometheus_scrapes_it(self):
        """The real one, with the rules; it has the figures that the page has, and records HFU."""
        run = self.live()
        run.samples_with("utlz_flops_total", "utlz_hfu_ratio")
        with Prometheus(self.folder, ":".join(map(str, run.address))) as server:
            server.query_until("up == 1")
            [launches] = server.query_until("sum(utlz_kernel_launches_total)")
            self.assertLessEqual(launches, total(run.samples(), "utlz_kernel_launches_total"))
            [hfu] = server.query_until("utlz:hfu:rate1m > 0")
            self.assertLess(hfu, 1)
            dashboard = json.loads((MONITORING / "grafana_dashboard.json").read_text("utf-8"))
            for panel in dashboard["panels"]:
                for target in panel["targets"]:
                    query = re.sub(r"\$(instance|host)\b", ".*", target["expr"])
                    server.query(query.replace("$__rate_interval", "1m"))  # fails if malformed

    def test_unix_socket(self):
        path = self.folder / "metrics.sock"
        run = self.live(f"unix:{path}")
        self.assertEqual(run.get("/health"), (200, "text/plain; charset=utf-8", "ok\n"))
        run.end()
        self.assertFalse(path.exists())

    def test_clients_that_misbehave(self):
        """None of them keeps the next page from those who ask, nor the run from its end."""
        run = self.live(seconds="3")
        silent = [run.connect() for _ in range(100)]
        rubbish = run.connect()
        rubbish.sendall(bytes(range(256)) * 64)
        slow = run.connect()
        slow.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")  # and never reads
        answers = []
        askers = [threading.Thread(target=lambda: answers.append(run.get()[0]))
                  for _ in range(100)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join(TIME_LIMIT_S)
        self.assertEqual(answers, [200] * 100)
        stdout, stderr = run.process.communicate(timeout=TIME_LIMIT_S)
        self.assertEqual(run.process.returncode, 0, stdout + stderr)
        for client in (*silent, rubbish, slow):
            client.close()
        capture = self.report(run_with(self.folder / "run.utlz"))["capture"]
        self.assertEqual(capture.get("launches_dropped", 0), 0)

    def test_file(self):
        path = self.folder / "utlz.prom"
        run = self.run_program("training_steps", "2", options=(
            "--counters=sample", "--overhead-budget=unlimited", "--metrics-file", str(path)))
        self.assert_exact(run)
        page = path.read_text(encoding="utf-8")
        samples = samples_of(page)
        self.assertEqual(path.stat().st_mode & 0o777, 0o644)
        launches = sum(run.expected_kernels.values())
        self.assertEqual(total(samples, "utlz_kernel_launches_total"), launches)
        gemms = run.expected_kernels["_Z4gemmPfPKfS1_i"]
        self.assertAlmostEqual(total(samples, "utlz_flops_total") / (gemms * 1e11), 1, delta=0.1)
        dram_bytes = (total(samples, "utlz_dram_read_bytes_total")
                      + total(samples, "utlz_dram_write_bytes_total"))
        expected = (run.expected_kernels["_Z4gemmPfPKfS1_i"] * 4e8
                    + run.expected_kernels["_Z6reducePfPKfi"] * 1.001e8
                    + run.expected_kernels["_Z3addPfPKfi"] * 8e7)
        self.assertAlmostEqual(dram_bytes / expected, 1, delta=0.1)
        self.assertNotIn("_ratio", page, "what was true of a moment is true no more")

    def test_places_that_cannot_be(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            run = self.run_program("ending", options=("--metrics", str(port)))
        self.assertEqual(run.status, 125)
        self.assertIn("already: choose another place with --metrics", run.stderr)
        self.assertNotIn("launches", run.stdout, "the command did not start")
        run = self.run_program("ending", options=("--metrics", "localhost"))
        self.assertEqual(run.status, 125)
        link = self.folder / "link.prom"
        link.symlink_to(self.folder / "elsewhere")
        run = self.run_program("ending", options=("--metrics-file", str(link)))
        self.assertEqual(run.status, 125)
        self.assertFalse((self.folder / "elsewhere").exists())


def run_with(profile):
    """What report() takes, of a run whose output is of no interest."""
    class Finished:
        pass
    finished = Finished()
    finished.profile = pathlib.Path(profile)
    return finished


if __name__ == "__main__":
    unittest.main()
