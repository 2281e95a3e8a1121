"""Metrics of a run while it goes on: scraped as Prometheus does, and as nobody should."""

import http.client
import http.server
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
ALERTMANAGER = (os.environ.get("UTLZ_ALERTMANAGER") or shutil.which("prometheus-alertmanager")
                or shutil.which("alertmanager"))
VICTORIA_METRICS = (os.environ.get("UTLZ_VICTORIA_METRICS") or shutil.which("victoria-metrics")
                    or shutil.which("victoria-metrics-prod"))
NODE = shutil.which("node")
# Where `npm install @opentelemetry/otlp-transformer@0.57.2` put it.
OTLP_DEFINITIONS = os.environ.get("UTLZ_OTLP_TRANSFORMER")

# Pages as the servers write them, with {waiting}, {requests} and {tokens} to be filled in.
SERVER_PAGES = {
    "vllm": """# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{{engine="0",model_name="m"}} {waiting}
vllm:num_requests_running{{engine="0",model_name="m"}} 8.0
vllm:prompt_tokens_total{{engine="0",model_name="m"}} {tokens}
vllm:generation_tokens_total{{engine="0",model_name="m"}} {tokens}
vllm:request_success_total{{engine="0",finished_reason="stop",model_name="m"}} {requests}
vllm:estimated_flops_per_gpu_total{{engine="0",model_name="m"}} {tokens}
vllm:time_to_first_token_seconds_bucket{{engine="0",le="0.5",model_name="m"}} {requests}
vllm:time_to_first_token_seconds_bucket{{engine="0",le="+Inf",model_name="m"}} {requests}
""",
    "sglang": """sglang:num_queue_reqs{{model_name="m"}} {waiting}
sglang:num_running_reqs{{model_name="m"}} 8.0
sglang:prompt_tokens_total{{model_name="m"}} {tokens}
sglang:generation_tokens_total{{model_name="m"}} {tokens}
sglang:num_requests_total{{model_name="m"}} {requests}
sglang:time_to_first_token_seconds_bucket{{le="0.5",model_name="m"}} {requests}
sglang:time_to_first_token_seconds_bucket{{le="+Inf",model_name="m"}} {requests}
""",
    "tgi": """tgi_queue_size {waiting}
tgi_batch_current_size 8
tgi_request_success{{method="batch"}} {requests}
tgi_request_input_length_sum {tokens}
tgi_request_generated_tokens_sum {tokens}
""",
    "triton": """nv_inference_pending_request_count{{model="m",version="1"}} {waiting}
nv_inference_request_success{{model="m",version="1"}} {requests}
""",
}


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


class Listener:
    """An HTTP server of the test's own on a free port of loopback: `answer` gets a path and a body,
    and returns the page."""

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                length = int(self.headers.get("Content-Length", 0))
                page = answer(self.path, self.rfile.read(length)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Daemon:
    """A program that answers HTTP on a port of loopback."""

    def __init__(self, command, port):
        self.port = port
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(TIME_LIMIT_S)

    def get_until(self, path, good):
        """What it answers, once `good` says that this will do."""
        while self.process.poll() is None:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port,
                                                        timeout=TIME_LIMIT_S)
                connection.request("GET", path)
                answer = json.loads(connection.getresponse().read())
                connection.close()
                if good(answer):
                    return answer
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                pass  # it starts
            time.sleep(0.1)
        raise AssertionError("it ended")


class Prometheus:
    """A real server that scrapes one target every second."""

    def __init__(self, folder, target, alertmanager_port=None):
        rules = (MONITORING / "rules.yml").read_text("utf-8").replace("interval: 15s", "interval: 1s")
        (folder / "rules.yml").write_text(rules, "utf-8")
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            "rule_files: [rules.yml]\n"
            f"scrape_configs: [{{job_name: utlz, static_configs: [{{targets: ['{target}']}}]}}]\n"
            + ("" if alertmanager_port is None else
               "alerting: {alertmanagers: [{static_configs: [{targets: "
               f"['127.0.0.1:{alertmanager_port}']}}]}}]}}\n"), "utf-8")
        self.port = free_port()
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

    @unittest.skipUnless(PROMETHEUS and ALERTMANAGER,
                         "no alertmanager here: Debian's package prometheus-alertmanager has it")
    def test_alertmanager_receives_alarms(self):
        """From a page with an alarm, by Prometheus and our rules."""
        page = ("# TYPE utlz_alarm gauge\n"
                'utlz_alarm{Hostname="h",alarm="rank_lags",rank="3"} 1\n')
        (self.folder / "alertmanager.yml").write_text(
            "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n", "utf-8")
        port = free_port()
        with Listener(lambda *_: page) as target, Daemon(
                [ALERTMANAGER, f"--config.file={self.folder}/alertmanager.yml",
                 f"--storage.path={self.folder}/alerts", "--cluster.listen-address=",
                 f"--web.listen-address=127.0.0.1:{port}"], port) as alertmanager, Prometheus(
                     self.folder, f"127.0.0.1:{target.port}", port):
            [alert] = alertmanager.get_until("/api/v2/alerts", len)
        self.assertEqual(alert["labels"]["alertname"], "UtlzAlarm")
        self.assertEqual(alert["labels"]["alarm"], "rank_lags")
        self.assertEqual(alert["labels"]["rank"], "3")

    @unittest.skipUnless(VICTORIA_METRICS,
                         "no victoria-metrics here: Debian's package of this name has it")
    def test_victoria_metrics_takes_the_page(self):
        run = self.live()
        run.samples_with("utlz_flops_total")
        (self.folder / "scrape.yml").write_text(
            "global: {scrape_interval: 1s}\nscrape_configs: [{job_name: utlz, static_configs: "
            f"[{{targets: ['{':'.join(map(str, run.address))}']}}]}}]\n", "utf-8")
        port = free_port()
        query = "/api/v1/query?" + urllib.parse.urlencode(
            {"query": "sum(last_over_time(utlz_kernel_launches_total[5m]))"})
        with Daemon([VICTORIA_METRICS, f"-httpListenAddr=127.0.0.1:{port}",
                     f"-storageDataPath={self.folder}/series", "-retentionPeriod=1d",
                     "-search.latencyOffset=0s",
                     f"-promscrape.config={self.folder}/scrape.yml"], port) as server:
            answer = server.get_until(query, lambda given: given["data"]["result"])
        launches = float(answer["data"]["result"][0]["value"][1])
        self.assertGreater(launches, 0)
        self.assertLessEqual(launches, total(run.samples(), "utlz_kernel_launches_total"))

    def test_a_server_in_the_job(self):
        """Each server's page as it writes it: beside the GPU's metrics, and in the report."""
        for engine, page in SERVER_PAGES.items():
            with self.subTest(engine):
                asked = [0]

                def answer(path, _, page=page, asked=asked):
                    self.assertEqual(path, "/metrics")
                    asked[0] += 1
                    return page.format(waiting=3, requests=100 * asked[0], tokens=5000 * asked[0])

                with Listener(answer) as server:
                    run = self.live(options=("--app-metrics", f"http://127.0.0.1:{server.port}"))
                    samples = run.samples_with("utlz_app_requests_per_second")
                    run.end()
                self.assertEqual(total(samples, "utlz_app_requests_waiting", engine=engine), 3)
                self.assertGreaterEqual(total(samples, "utlz_app_requests_total"), 200)
                if engine != "triton":
                    self.assertGreater(total(samples, "utlz_app_tokens_per_second"), 0)
                    # The made-up GPU reports no energy, so energy per token is absent.
                    self.assertIsNone(total(samples, "utlz_app_joules_per_token"))
                if engine in ("vllm", "sglang"):
                    self.assertAlmostEqual(total(samples, "utlz_app_first_token_seconds"), 0.495)
                told = self.report(run_with(self.folder / "run.utlz"))["application"]
                self.assertEqual(told["engine"], engine)
                self.assertGreater(told["requests_per_second"], 0)
                text = self.utlz("report", str(self.folder / "run.utlz")).stdout
                self.assertIn(f"Server ({engine}", text)

    def test_a_server_that_is_not_there_is_said_once(self):
        run = self.run_program("training_steps", "3", options=(
            "--counters=none", "--app-metrics", f"http://127.0.0.1:{free_port()}"))
        self.assertEqual(run.status, 0)
        self.assertEqual(run.stderr.count("--app-metrics: cannot ask http://127.0.0.1:"), 1)
        run = self.run_program("ending", options=("--app-metrics", "https://example.org"))
        self.assertEqual(run.status, 125)

    def test_otlp(self):
        """A collector gets protobuf; where they are here, OpenTelemetry's definitions decode it."""
        bodies = []

        def answer(path, body):
            self.assertEqual(path, "/v1/metrics")
            bodies.append(body)
            return ""

        with Listener(answer) as collector:
            run = self.run_program("training_steps", "3", options=(
                "--counters=sample", "--overhead-budget=unlimited",
                "--otlp", f"http://127.0.0.1:{collector.port}"))
        self.assertEqual(run.status, 0, run.stderr)
        self.assertIn("utlz: metrics are sent to http://127.0.0.1:", run.stderr)
        self.assertTrue(bodies)
        if not (NODE and OTLP_DEFINITIONS):
            return
        (self.folder / "request").write_bytes(bodies[-1])
        decoded = subprocess.run(
            [NODE, pathlib.Path(__file__).parent / "decode_otlp.js", OTLP_DEFINITIONS,
             self.folder / "request"], capture_output=True, text=True, check=True)
        [resource] = json.loads(decoded.stdout)["resourceMetrics"]
        attributes = {pair["key"]: pair["value"]["stringValue"]
                      for pair in resource["resource"]["attributes"]}
        self.assertEqual(attributes["service.name"], "utlz")
        metrics = {metric["name"]: metric for metric in resource["scopeMetrics"][0]["metrics"]}
        launches = metrics["utlz_kernel_launches"]["sum"]
        self.assertTrue(launches["isMonotonic"])
        self.assertEqual(launches["aggregationTemporality"], "AGGREGATION_TEMPORALITY_CUMULATIVE")
        self.assertEqual(sum(point["asDouble"] for point in launches["dataPoints"]),
                         sum(run.expected_kernels.values()))
        [energy] = metrics["hw.energy"]["sum"]["dataPoints"]
        hardware = {pair["key"]: pair["value"]["stringValue"] for pair in energy["attributes"]}
        self.assertEqual((hardware["hw.id"], hardware["hw.type"]), (self.fake_gpu, "gpu"))

    def test_nothing_is_sent_unasked(self):
        """What the environment says for others is not for utlz."""
        asked = []
        with Listener(lambda path, _: asked.append(path) or "") as collector:
            environment = self.environment(
                OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{collector.port}")
            for options, expected in ((("--alarms",), []), (("--otlp", "env"), ["/v1/metrics"])):
                run = self.run_program("training_steps", "1", environment=environment,
                                       options=("--counters=none", *options))
                self.assertEqual(run.status, 0, run.stderr)
                self.assertEqual(asked[:1], expected)

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
