"""What work costs: joules and money of a step and a token, from NVML's energy counter and a
server's own count of tokens to metrics and reports."""

import time
import unittest

from harness import FAKES, EndToEndTest
from live_run import LiveRun, run_with, total
from monitoring_servers import Listener
from server_pages import SERVER_PAGES

WATTS = 500
TOKENS_PER_SECOND = 1000


class EnergyTest(EndToEndTest):
    def environment(self, scenario="", **additions):
        """With an NVML, whose GPUs take as many watts all the time."""
        energy = f"nvml_milliwatts={WATTS}000"
        environment = super().environment(",".join(filter(None, (scenario, energy))), **additions)
        environment["LD_LIBRARY_PATH"] += f":{FAKES}/nvml"
        return environment


class StepsTest(EnergyTest):
    def test_what_a_step_and_a_token_cost(self):
        page = self.folder / "utlz.prom"
        run = self.run_program("ranks", "300", options=(
            "--counters=sample", "--overhead-budget=unlimited", "--metrics-file", str(page),
            "--tokens-per-step", "2000", "--price-per-hour", "3.6"))
        report = self.assert_exact(run)
        seconds = report["steps"]["time_mean_ns"] * 1e-9
        efficiency = report["efficiency"]
        self.assertAlmostEqual(efficiency["joules_per_step"] / (WATTS * seconds), 1, delta=0.02)
        self.assertAlmostEqual(efficiency["tokens_per_joule"],
                               2000 / efficiency["joules_per_step"], places=6)
        self.assertAlmostEqual(efficiency["cost_per_step"], 3.6 / 3600 * seconds, places=9)
        self.assertAlmostEqual(efficiency["cost_per_token"],
                               efficiency["cost_per_step"] / 2000, places=12)
        [device] = report["devices"]
        self.assertAlmostEqual(device["power_watts"] / WATTS, 1, delta=0.02)


class ServerTest(EnergyTest):
    def test_what_a_token_takes(self):
        """The server generates as many tokens a second, however late it is asked."""
        begin = time.monotonic()

        def answer(_path, _body):
            tokens = int(TOKENS_PER_SECOND * (time.monotonic() - begin))
            return SERVER_PAGES["vllm"].format(waiting=0, requests=tokens // 100, tokens=tokens)

        with Listener(answer) as server:
            run = LiveRun(self, "127.0.0.1:0", "training_steps", "600", options=(
                "--counters=sample", "--overhead-budget=unlimited", "--price-per-hour", "3.6",
                "--app-metrics", f"http://127.0.0.1:{server.port}"))
            samples = run.samples_with("utlz_app_joules_per_token", "utlz_app_tokens_per_joule",
                                       "utlz_app_cost_per_token")
            run.end()
        joules = total(samples, "utlz_app_joules_per_token")
        self.assertAlmostEqual(joules / (WATTS / TOKENS_PER_SECOND), 1, delta=0.1)
        self.assertAlmostEqual(joules * total(samples, "utlz_app_tokens_per_joule"), 1, places=6)
        self.assertAlmostEqual(total(samples, "utlz_app_cost_per_token") * TOKENS_PER_SECOND / 1e-3,
                               1, delta=0.1)
        told = self.report(run_with(self.folder / "run.utlz"))["application"]
        self.assertAlmostEqual(told["joules_per_token"] / (WATTS / TOKENS_PER_SECOND), 1,
                               delta=0.05)
        text = self.utlz("report", str(self.folder / "run.utlz")).stdout
        self.assertRegex(text, r"0\.[45]\d* J a token ·\s+[01](\.\d+)?\s+per\s+million\s+tokens")
        self.assertAlmostEqual(told["cost_per_token"] * told["tokens_per_second"] / 1e-3, 1,
                               places=6)


if __name__ == "__main__":
    unittest.main()
