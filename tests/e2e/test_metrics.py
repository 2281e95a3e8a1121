"""Metrics of a run while it goes on: scraped as Prometheus does, and as nobody should."""

import socket
import threading
import unittest

from harness import SANITIZER, TIME_LIMIT_S
from live_run import LiveMetricsTest, LiveRun, run_with, samples_of, total

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


class MetricsTest(LiveMetricsTest):

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
        attribution_s = total(after, "utlz_attribution_cpu_seconds_total")
        self.assertGreater(attribution_s, 0)
        self.assertLessEqual(attribution_s, total(after, "utlz_collector_cpu_seconds_total"))
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
        self.assertLessEqual({name for name, _ in samples_of(page)} ^ names, {
            "utlz_hfu_ratio", "utlz_step_seconds", "utlz_process_hfu_ratio",
            "utlz_process_step_seconds"})

    def test_steps_and_hfu_of_the_process(self):
        """A process that works alone on its GPU has the figures of its run and of its GPU."""
        run = LiveRun(self, "127.0.0.1:0", "ranks", "1000000", options=(
            "--counters=sample", "--overhead-budget=unlimited"))
        names = ("utlz_hfu_ratio", "utlz_step_seconds", "utlz_process_hfu_ratio",
                 "utlz_process_step_seconds")
        samples = run.samples_with(*names)
        [labels] = [dict(labels) for name, labels in samples if name == names[3]]
        self.assertEqual(labels["process"], "ranks")
        self.assertEqual(total(samples, names[3]), total(samples, names[1]))
        self.assertAlmostEqual(total(samples, names[2]), total(samples, names[0]), delta=0.02)

    def test_exec_leaves_no_series_twice(self):
        """The programs that an exec begins have one identifier, and one name."""
        path = self.folder / "utlz.prom"
        run = self.run_program("process_chain", "3", "exec",
                               options=("--metrics-file", str(path)))
        self.assertEqual(run.status, 0, run.stderr)
        samples = samples_of(path.read_text(encoding="utf-8"))  # fails where one is there twice
        self.assertEqual(len([name for name, _ in samples
                              if name == "utlz_process_operations_total"]), 1)

    def test_unix_socket(self):
        path = self.folder / "metrics.sock"
        run = self.live(f"unix:{path}", counters="none")
        self.assertEqual(run.get("/health"), (200, "text/plain; charset=utf-8", "ok\n"))
        run.end()
        self.assertFalse(path.exists())

    def test_clients_that_misbehave(self):
        """None of them keeps the next page from those who ask, nor the run from its end."""
        run = self.live(seconds="3", counters="none")
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
        # A sanitized sampler starts so slowly beside other tests that two seconds have ended before.
        seconds = "16" if SANITIZER else "2"
        run = self.run_program("training_steps", seconds, options=(
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


class SharedGpuTest(LiveMetricsTest):

    def test_each_process_has_its_steps(self):
        steps = self.program("training_steps")
        script = (f"{steps} 1000 & first=$!; {steps} 1000 apart & second=$!; "
                  "trap 'kill $first $second' TERM; wait")
        run = LiveRun(self, "127.0.0.1:0", "/bin/sh", "-c", script,
                      options=("--counters=none",))
        name = "utlz_process_step_seconds"
        processes = set()
        while len(processes) < 2:
            samples = run.samples_with(name)
            processes = {dict(labels)["pid"] for (sample, labels) in samples if sample == name}


class RanksTest(LiveMetricsTest):
    """Four ranks on four GPUs."""

    def environment(self, scenario="", **additions):
        return super().environment(",".join(filter(None, (scenario, "devices=4"))), **additions)

    def test_each_rank_has_its_steps(self):
        run = LiveRun(self, "127.0.0.1:0", "ranks", "launch", "4", "1000000", options=(
            "--counters=none", "--overhead-budget=unlimited"))
        name = "utlz_process_step_seconds"
        while True:
            samples = run.samples_with(name, "utlz_step_seconds")
            ranks = {dict(labels)["rank"]: value
                     for (sample, labels), value in samples.items() if sample == name}
            if len(ranks) == 4:
                break
        self.assertEqual(sorted(ranks), ["0", "1", "2", "3"])
        for seconds in ranks.values():
            self.assertAlmostEqual(seconds / total(samples, "utlz_step_seconds"), 1, delta=0.2)


if __name__ == "__main__":
    unittest.main()
