"""Metrics of a run with the servers of others: Prometheus and its like, OTLP, inference servers."""

import json
import os
import re
import shutil
import subprocess
import unittest
import urllib.parse

from live_run import LiveMetricsTest, run_with, total
from monitoring_servers import (MONITORING, PROMETHEUS, Daemon, Listener, Prometheus, free_port)
from otlp import OTLP_DEFINITIONS, decoded_metrics
from server_pages import SERVER_PAGES

PROMTOOL = os.environ.get("UTLZ_PROMTOOL") or shutil.which("promtool")
ALERTMANAGER = (os.environ.get("UTLZ_ALERTMANAGER") or shutil.which("prometheus-alertmanager")
                or shutil.which("alertmanager"))
VICTORIA_METRICS = (os.environ.get("UTLZ_VICTORIA_METRICS") or shutil.which("victoria-metrics")
                    or shutil.which("victoria-metrics-prod"))


class MonitoringTest(LiveMetricsTest):

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
        run = self.live(counters="none")
        run.samples_with("utlz_kernel_launches_total")
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
                    run = self.live(counters="none", options=(
                        "--app-metrics", f"http://127.0.0.1:{server.port}"))
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
        """A collector gets protobuf, which OpenTelemetry's definitions decode."""
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
        if not OTLP_DEFINITIONS:
            self.skipTest("no definitions of OpenTelemetry here: what was sent was not decoded")
        metrics, resource = decoded_metrics(self.folder, bodies[-1])
        self.assertEqual(resource["service.name"], "utlz")
        self.assertEqual(sum(point["asDouble"] for point
                             in metrics["utlz_kernel_launches"]["sum"]["dataPoints"]),
                         sum(run.expected_kernels.values()))

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


if __name__ == "__main__":
    unittest.main()
