"""A whole job of four ranks on four GPUs of one host, started as torchrun starts them; one of them
computes longer in each step, and the others wait for it in their all-reduce."""

import http.client
import re
import signal
import subprocess
import time
import unittest

from attaching import Followed
from harness import TIME_LIMIT_S, UTLZ
from job_of_ranks import RANKS, JobOfRanksTest
from live_run import samples_of, total
from written_frames import RECORDS_ENDED, records_states, windows_by_process

STEPS = 100
SLOW = 2
SLOW_JOB = (STEPS, "slow", SLOW)
GEMM = "_Z4gemmPfPKfS1_i"
ALL_REDUCE = ("_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
              "24ncclDevKernelArgsStorageILm4096EE")
# By which the slow rank's products end after the others', in tests/programs/ranks.cc.
LATE_NS = 4e6


class RanksTest(JobOfRanksTest):
    def assert_a_job(self, report):
        """All ranks are there, each on its GPU, and the slow one is named with its delay."""
        self.assert_nothing_lost(report)
        processes = {process["rank"]: process for process in report["processes"]}
        self.assertEqual(sorted(processes), list(range(RANKS)))
        self.assertEqual(len(report["processes"]), RANKS)
        # Each works on the GPU of its number, whichever it sees.
        gpus = [f"{self.fake_gpu[:-2]}{rank:02x}" for rank in range(RANKS)]
        self.assertEqual([process["devices"] for _, process in sorted(processes.items())],
                         [[gpu] for gpu in gpus])
        self.assertEqual([device["uuid"] for device in report["devices"]], gpus)
        self.assertEqual({kernel["short_name"]: kernel["device_uuid"]
                          for kernel in report["kernels"]},
                         {f"{name}, GPU {rank}": gpu for rank, gpu in enumerate(gpus)
                          for name in ("gemm", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL")})
        self.assertEqual({rank: process["launches"] for rank, process in processes.items()},
                         {rank: STEPS * (4 if rank == SLOW else 3) for rank in range(RANKS)})
        self.assertEqual(self.launches_by_name(report),
                         {GEMM: STEPS * (2 * RANKS + 1), ALL_REDUCE: STEPS * RANKS})
        for rank, process in processes.items():
            self.assertEqual(process["collectives_matched"], STEPS)
            with self.subTest(rank=rank):
                if rank == SLOW:
                    self.assertGreater(process["collective_last_share"], 0.8)
                else:
                    self.assertLess(process["collective_last_share"], 0.2)
                    self.assertGreater(process["communication_time_ns"], 0.8 * STEPS * LATE_NS)
        [finding] = [one for one in report["findings"] if one["rule"] == "lagging_rank"]
        self.assertIn(f"rank {SLOW} comes last to", finding["evidence"])
        self.assertIn("after the last of the others", finding["evidence"])
        spread = re.search(rf"Of its {RANKS} ranks, rank {SLOW} computes longest, [\d.]+ ms a step;"
                           r" the shortest [\d.]+ ms \(spread ([\d.]+) %\)", report["verdict"])
        self.assertTrue(spread, report["verdict"])
        # A third: of products alone, however long ranks waited for each other before their steps.
        self.assertAlmostEqual(float(spread[1]), 100 / 3, delta=3)

    def assert_steps(self, report):
        """A step takes all as long as the slow rank."""
        self.assertGreaterEqual(report["steps"]["time_p50_ns"], 13e6)

    def assert_straggler(self, report):
        ranks = report["ranks"]
        self.assertEqual(ranks["collectives"], STEPS)
        self.assertEqual([one["rank"] for one in ranks["ranks"] if one["straggler"]], [SLOW])
        slow = ranks["ranks"][0]
        self.assertEqual(slow["rank"], SLOW)
        self.assertEqual(slow["collectives"], STEPS)
        self.assertGreater(slow["waited_for_ns"], 0.8 * STEPS * LATE_NS)
        for other in ranks["ranks"][1:]:
            self.assertGreater(other["waiting_ns"], 0.8 * STEPS * LATE_NS)
        self.assertIn(f"Rank {SLOW}", ranks["verdict"])
        self.assertIn("is last into", ranks["verdict"])

    def merged(self, *profiles):
        completed = self.utlz("merge", *map(str, profiles), "-o", str(self.folder / "job.utlz"))
        self.assertEqual(completed.returncode, 0, completed.stderr)
        return self.report_of(self.folder / "job.utlz")


class WindowsOfRanksTest(JobOfRanksTest):
    # Windows of GPUs that have nothing to do with each other are further apart. Agents look for them
    # every 20 ms.
    TOGETHER_NS = 40e6
    ENOUGH = 3

    def test_ranks_trace_at_the_same_time_and_all_gpus_are_sampled(self):
        profile = self.folder / "run.utlz"
        run = Followed([str(UTLZ), "run", "--counters=sample", "--overhead-budget=0.05%",
                        "--no-report", "-o", str(profile), "--", *self.launcher(1_000_000)],
                       "stderr", env=self.test_environment, cwd=self.folder,
                       stdin=subprocess.DEVNULL)
        self.addCleanup(run.close)
        self.wait_until(lambda: self.common_windows(profile) >= self.ENOUGH)
        self.wait_until(lambda: self.gpus_with_bytes(profile) == RANKS)
        run.process.send_signal(signal.SIGTERM)
        run.end()

    def test_records_of_all_end_where_those_of_a_host_bound_rank_do(self):
        """The other one's GPU looks busy: it waits in its all-reduce."""
        profile = self.folder / "run.utlz"
        # On a busy machine launches are fewer: the usual budget pays for their records for long.
        run = Followed([str(UTLZ), "run", "--counters=none", "--overhead-budget=0.3%",
                        "--no-new-work", "--no-report", "-o", str(profile), "--",
                        self.program("ranks"), "launch", "2", "1000000", "host", "0"],
                       "stderr", env=self.test_environment, cwd=self.folder,
                       stdin=subprocess.DEVNULL)
        self.addCleanup(run.close)
        self.wait_until(
            lambda: list(records_states(profile).values()).count(RECORDS_ENDED) == 2)
        run.process.send_signal(signal.SIGTERM)
        run.end()

    def wait_until(self, reached):
        """On a busy machine agents and sampler wake late; there is another window."""
        deadline = time.monotonic() + TIME_LIMIT_S * 3 / 8  # both before the run is killed
        while not reached():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)

    def common_windows(self, profile):
        """In how many all ranks traced at one time, but for the first, from their start."""
        begins = [[begin for begin, _ in of_one[1:]]
                  for of_one in windows_by_process(profile).values()]
        if len(begins) < RANKS:
            return 0
        first, *others = begins
        return sum(all(any(abs(begin - other) < self.TOGETHER_NS for other in of_one)
                       for of_one in others) for begin in first)

    def gpus_with_bytes(self, profile):
        report = self.report_of(profile)
        return len({kernel["device_uuid"] for kernel in report["kernels"]
                    if kernel["mangled_name"] == GEMM and "dram_bytes" in kernel})


class OneRunTest(RanksTest):
    def test_report_and_merge(self):
        run = self.run_command(self.launcher(*SLOW_JOB), environment=self.test_environment,
                               options=("--counters=none", "--overhead-budget=unlimited"))
        report = self.assert_exact(run)
        self.assert_a_job(report)
        self.assert_steps(report)
        self.assert_straggler(self.merged(run.profile))
        text = self.utlz("report", str(run.profile)).stdout
        self.assertIn("One process makes the others wait", text)

    def test_ranks_alike(self):
        """Nobody is accused."""
        run = self.run_command(self.launcher(STEPS), environment=self.test_environment,
                               options=("--counters=none", "--overhead-budget=unlimited"))
        report = self.assert_exact(run)
        self.assertEqual([one for one in report["findings"] if one["rule"] == "lagging_rank"], [])
        self.assertIn(f" Its {RANKS} ranks compute alike, ", report["verdict"])
        ranks = self.merged(run.profile)["ranks"]
        self.assertEqual(ranks["collectives"], STEPS)
        self.assertEqual([one for one in ranks["ranks"] if one["straggler"]], [])

    def test_each_rank_sees_its_gpu_alone(self):
        """As Slurm, Ray and vLLM start them, by number or by UUID: GPU 0 is another for each."""
        visible = [str(rank) if rank % 2 else f"{self.fake_gpu[:-2]}{rank:02x}"
                   for rank in range(RANKS)]
        rank = f"'{self.program('ranks')}' {' '.join(map(str, SLOW_JOB))} &"
        script = "".join(f"RANK={i} LOCAL_RANK=0 CUDA_VISIBLE_DEVICES={gpu} {rank} "
                         for i, gpu in enumerate(visible))
        run = self.run_command(["/bin/sh", "-c", f"export WORLD_SIZE={RANKS}; {script} wait"],
                               environment=self.test_environment,
                               options=("--counters=none", "--overhead-budget=unlimited"))
        self.assert_a_job(self.assert_exact(run))

    def test_all_ranks_started_anew(self):
        """As torchrun does after a failure: a rank that lags is the same one before and after."""
        job = " ".join(f"'{word}'" for word in self.launcher(*SLOW_JOB))
        run = self.run_command(["/bin/sh", "-c", f"{job} && rm '{self.folder}/gpu' && {job}"],
                               environment=self.test_environment,
                               options=("--counters=none", "--overhead-budget=unlimited"))
        report = self.assert_exact(run)
        self.assertEqual(len(report["processes"]), 2 * RANKS)
        self.assertEqual({process["collectives_matched"] for process in report["processes"]},
                         {STEPS})
        [finding] = [one for one in report["findings"] if one["rule"] == "lagging_rank"]
        self.assertIn(f"rank {SLOW} comes last to", finding["evidence"])
        self.assertIn(f"Of its {RANKS} ranks, rank {SLOW} computes longest", report["verdict"])

    def test_a_run_around_each_rank(self):
        """As where a launcher starts utlz run on each host."""
        profiles = [self.folder / f"rank-{rank}.utlz" for rank in range(RANKS)]
        self.wait_for_all([
            self.start_rank(rank, (str(UTLZ), "run", "-o", str(profile), "--no-report",
                                   "--counters=none", "--overhead-budget=unlimited", "--"),
                            *SLOW_JOB)
            for rank, profile in enumerate(profiles)])
        for rank, profile in enumerate(profiles):
            [process] = self.report_of(profile)["processes"]
            self.assertEqual(process["rank"], rank)
        report = self.merged(*profiles)
        self.assert_a_job(report)
        self.assert_straggler(report)


class OneCollectorTest(RanksTest):
    def page(self, service):
        host, port = re.search(r"http://([0-9.]+):(\d+)/", service.said).groups()
        connection = http.client.HTTPConnection(host, int(port), timeout=TIME_LIMIT_S)
        connection.request("GET", "/metrics")
        page = connection.getresponse().read().decode()
        connection.close()
        return samples_of(page)

    @staticmethod
    def launches_of_ranks(page):
        ranks = map(str, range(RANKS))
        return {(rank, family): total(page, "utlz_kernel_launches_total", rank=rank, family=family,
                                      utlz_job="train")
                for rank in ranks for family in ("gemm", "communication")}

    def test_profile_and_metrics(self):
        """Half of the ranks by utlz run, half by variables: one job, since it has one name."""
        service = self.service("--metrics", "127.0.0.1:0")
        named = {**self.test_environment, "UTLZ_JOB": "train"}
        by_run = (str(UTLZ), "run", "--collector", f"unix:{self.socket}", "--")
        self.wait_for_all(
            [self.start_rank(rank, by_run, *SLOW_JOB, environment=named) for rank in (0, 1)] +
            [self.start_rank(rank, (), *SLOW_JOB,
                             environment=self.target_environment(UTLZ_JOB="train"))
             for rank in (2, 3)])
        service.wait_for("train: 4 processes, profile:")
        expected = {(str(rank), family): STEPS * a_step for rank in range(RANKS)
                    for family, a_step in (("gemm", 3 if rank == SLOW else 2),
                                           ("communication", 1))}
        self.wait_until(lambda: self.launches_of_ranks(self.page(service)) == expected,
                        "the page has all that the ranks launched")
        page = self.page(service)
        self.assertEqual(len({dict(labels)["UUID"] for name, labels in page
                              if name == "utlz_kernel_seconds_total"}), RANKS)
        service.stop()
        [profile] = self.profiles()
        report = self.report_of(profile)
        self.assert_a_job(report)
        self.assertEqual({process["job"] for process in report["processes"]}, {"train"})
        self.assert_straggler(self.merged(profile))


if __name__ == "__main__":
    unittest.main()
