"""A recorded run, replayed in real time, drives top, the exporter, Prometheus' rules and the history;
all of them say what its report says."""

import http.client
import json
import os
import pathlib
import re
import subprocess
import unittest

from attaching import Followed
from harness import TIME_LIMIT_S, UTLZ, EndToEndTest
from live_run import samples_of, total
from monitoring_servers import MONITORING, PROMETHEUS, Listener, Prometheus
from otlp import OTLP_DEFINITIONS, attributes_of, decoded_metrics

COLLECTOR = os.environ["UTLZ_REPLAYED_COLLECTOR"]
FAKE_NVML = os.environ["UTLZ_FAKE_NVML"]
RECORDING = pathlib.Path(__file__).parents[2] / "data" / "demo.utlz"


class ReplayTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.sent = []
        self.otlp = self.enterContext(Listener(lambda _, body: self.sent.append(body) or ""))
        self.collector = Followed(
            [COLLECTOR, str(RECORDING), str(self.folder), f"http://127.0.0.1:{self.otlp.port}"],
            "stdout", env=self.environment(), cwd=self.folder, stdin=subprocess.PIPE)
        self.addCleanup(self.collector.close)
        self.place = re.search(r"http://([0-9.]+:\d+)/", self.collector.wait_for("metrics: "))[1]
        self.recorded = json.loads(
            self.utlz("report", "--format", "json", str(RECORDING)).stdout)

    def page(self):
        connection = http.client.HTTPConnection(self.place, timeout=TIME_LIMIT_S)
        connection.request("GET", "/metrics")
        page = connection.getresponse().read().decode()
        connection.close()
        return samples_of(page)

    def last_page(self):
        self.collector.wait_for("ended")
        return self.page()

    def test_top(self):
        environment = self.environment()
        environment["LD_LIBRARY_PATH"] = f"{FAKE_NVML}:{environment['LD_LIBRARY_PATH']}"
        top = Followed([str(UTLZ), "top", "--json", "--interval=0.2"], "stdout", env=environment,
                       cwd=self.folder, stdin=subprocess.DEVNULL)
        self.addCleanup(top.close)
        worth, steps = self.runs_with(
            top,
            lambda run: "hfu" in run["devices"][0] and any(
                kernel.get("roof_share") for kernel in run["kernels"]),
            lambda run: "step_seconds" in run)
        names = {kernel["name"] for kernel in self.recorded["kernels"]}
        self.assertTrue(any(kernel["name"] in names or kernel["name"] in
                            {known["short_name"] for known in self.recorded["kernels"]}
                            for kernel in worth["kernels"]), worth["kernels"])
        self.assertLess(worth["devices"][0]["hfu"], 1.2 * self.recorded["devices"][0]["hfu"])
        self.assertGreater(steps["step_seconds"], 0)

    def runs_with(self, top, *wanted):
        """What top said when it first had each of what is wanted. On a busy machine what is known
        first may not be known any more when the rest is."""
        found = {}
        while len(found) < len(wanted):
            line = top.line()
            self.assertTrue(line, f"top never said more than {list(found)} of what is wanted")
            for run in json.loads(line)["runs"]:
                if run["collector_pid"] != self.collector.process.pid or not run.get("devices"):
                    continue
                for number, is_in in enumerate(wanted):
                    if number not in found and is_in(run):
                        found[number] = run
        return [found[number] for number in range(len(wanted))]

    @unittest.skipUnless(PROMETHEUS, "no prometheus here: Debian's package of this name has it")
    def test_rules(self):
        with Prometheus(self.folder, self.place) as server:
            [hfu] = server.query_until("utlz:hfu:rate1m > 0")
            self.assertLess(hfu, 1.2 * self.recorded["devices"][0]["hfu"])
            self.assert_the_dashboard_answers(server)
            page = self.last_page()
            launches = total(page, "utlz_kernel_launches_total")
            # The server adds up in another order.
            self.assertTrue(server.query_until(
                f"sum(utlz_kernel_launches_total) > {launches * (1 - 1e-9)}"), "the last page")

    def assert_the_dashboard_answers(self, server):
        """Each query has values, if the page has all that it asks for."""
        on_page = {name for name, _ in self.page()}
        dashboard = json.loads((MONITORING / "grafana_dashboard.json").read_text("utf-8"))
        queries = [re.sub(r"\$(instance|host)\b", ".*", target["expr"]).replace(
            "$__rate_interval", "1m") for panel in dashboard["panels"] for target in panel["targets"]]
        answered = [query for query in queries if self.metrics_of(query) <= on_page
                    and server.query_until(query)]
        self.assertGreater(len(answered), len(queries) / 2, answered)

    @staticmethod
    def metrics_of(query):
        return set(re.findall(r"\b(?:utlz|vllm)[a-z_:]*", query))

    @unittest.skipUnless(OTLP_DEFINITIONS, "no definitions of OpenTelemetry here")
    def test_otlp(self):
        """OpenTelemetry's own definitions decode what is sent, and it is what the page says."""
        page = self.last_page()
        self.collector.process.stdin.close()
        self.collector.end()
        metrics, resource = decoded_metrics(self.folder, self.sent[-1])
        self.assertEqual(resource["service.name"], "utlz")
        launches = metrics["utlz_kernel_launches"]["sum"]
        self.assertTrue(launches["isMonotonic"])
        self.assertEqual(launches["aggregationTemporality"], "AGGREGATION_TEMPORALITY_CUMULATIVE")
        self.assertAlmostEqual(sum(point["asDouble"] for point in launches["dataPoints"]),
                               total(page, "utlz_kernel_launches_total"), places=3)
        [energy] = metrics["hw.energy"]["sum"]["dataPoints"]
        self.assertEqual(energy["asDouble"], total(page, "utlz_energy_joules_total"))
        # What was true of a moment is sent while the run goes on.
        while_it_ran, _ = decoded_metrics(self.folder, self.sent[0])
        [busy] = while_it_ran["hw.gpu.utilization"]["gauge"]["dataPoints"]
        self.assertGreater(busy["asDouble"], 0)
        self.assertLessEqual(busy["asDouble"], 1)
        for point in (energy, busy):
            hardware = attributes_of(point)
            self.assertEqual((hardware["hw.id"], hardware["hw.type"]),
                             (self.recorded["devices"][0]["uuid"], "gpu"))

    def test_the_last_page_and_the_history(self):
        page = self.last_page()
        self.assertNotIn("alarm:", self.collector.said, "nothing happened in this run")
        launches = sum(kernel["launches"] for kernel in self.recorded["kernels"])
        self.assertAlmostEqual(total(page, "utlz_kernel_launches_total") / launches, 1, delta=0.02)
        flops = self.recorded["devices"][0]["flops"]
        self.assertAlmostEqual(total(page, "utlz_flops_total") / flops, 1, delta=0.1)
        shown = self.utlz("report", "--since", "1h", "--history", str(self.folder / "history"),
                          "--format", "json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        [job] = json.loads(shown.stdout)["jobs"]
        [run] = job["runs"]
        self.assertEqual(job["job"], "replayed")
        figures = run["figures"]
        peak_s = total(page, "utlz_flops_peak_seconds_total")
        self.assertAlmostEqual(figures["hfu"] * figures["seconds"] / peak_s, 1, delta=0.01)
        # The replay takes as long as the run took, or longer where the machine is busy.
        self.assertGreater(figures["seconds"], 0.9 * self.recorded["run"]["wall_ns"] * 1e-9)


if __name__ == "__main__":
    unittest.main()
