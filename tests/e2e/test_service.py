"""The collector as a service: many targets, and whatever befalls either side harms none of them."""

import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import unittest

from attaching import Program
from harness import SANITIZER, TIME_LIMIT_S
from service import ServiceTest
from live_run import LiveRun, samples_of, total


class JobsTest(ServiceTest):
    def test_nothing_but_variables(self):
        service = self.service()
        target = self.run_target("ending", "status")
        self.assertEqual(target.returncode, 42, target.stderr)
        service.wait_for("1 process, profile:")
        [report] = self.reports()
        self.assertEqual(self.launches_by_name(report), self.told_launches(target.stdout))
        self.assert_nothing_lost(report)
        self.assertIn("ending", report["run"]["command"][0])
        service.stop()

    def test_run_leaves_the_recording_to_it(self):
        """One job for all processes of a command, whose place utlz run takes not at all."""
        service = self.service(linger="600")
        program = self.program("ending")
        run = self.utlz("run", "--collector", f"unix:{self.socket}", "--", "/bin/sh", "-c",
                        f"'{program}' status; '{program}' status; exit 7")
        self.assertEqual(run.returncode, 7, run.stderr)
        self.assertEqual(run.stderr, "")
        service.stop()
        self.assertIn("2 processes, profile:", service.said)
        [report] = self.reports()
        self.assertEqual(self.launches_by_name(report), self.told_launches(run.stdout))
        self.assertRegex(service.said, r"sh-\d+: recording into")

    def test_options_of_the_collector_do_not_go_to_run(self):
        run = self.utlz("run", "--collector", f"unix:{self.socket}", "--counters=none", "--", "true")
        self.assertEqual(run.returncode, 125)
        self.assertIn("--counters goes to utlz collector", run.stderr)
        run = self.utlz("run", "--collector", "tcp:1", "--", "true")
        self.assertEqual(run.returncode, 125)
        self.assertIn("unix:PATH", run.stderr)

    def test_a_job_has_one_profile(self):
        service = self.service(linger="600")
        for job in ("one", "two", "one"):
            self.run_target("ending", "status", SLURM_JOB_ID=job, SLURM_PROCID="3",
                            SLURM_LOCALID="1", SLURM_STEP_NUM_TASKS="8")
        service.stop()
        reports = sorted(self.reports(), key=lambda report: len(report["processes"]))
        self.assertEqual([len(report["processes"]) for report in reports], [1, 2])
        process = reports[1]["processes"][0]
        self.assertEqual((process["job"], process["rank"]), ("one", 3))
        self.assertIn("one: recording into", service.said)

    def test_a_second_collector_is_refused(self):
        self.service()
        second = self.utlz("collector", "--socket", str(self.socket))
        self.assertEqual(second.returncode, 1)
        self.assertIn("another collector serves", second.stderr)

    def test_a_long_job_begins_another_profile(self):
        service = self.service("--longest", "0.001")  # hours: 3.6 s
        program = Program(self.program("on_command"), self.target_environment(), self.folder)
        self.addCleanup(program.close)
        program.do("busy 1")
        self.wait_until(lambda: len(self.profiles_with_launches()) >= 2, "another profile begins")
        program.do("busy 0")
        self.assertEqual(program.quit(), 0)
        service.stop()
        self.assertTrue(any(self.notices_with(report, "had no collector before")
                            for report in self.reports()))

    def profiles_with_launches(self):
        """Those that are still being written among them."""
        found = []
        for profile in self.profiles():
            shown = self.utlz("report", "--format", "json", "--recompute", str(profile)).stdout
            if shown and self.launches_by_name(json.loads(shown)):
                found.append(profile)
        return found


class ComingBackTest(ServiceTest):
    def start(self, count):
        programs = []
        for _ in range(count):
            program = Program(self.program("on_command"), self.target_environment(UTLZ_JOB="ten"),
                              self.folder)
            self.addCleanup(program.close)
            programs.append(program)
        return programs

    def test_killed_under_ten_targets(self):
        first = self.service()
        programs = self.start(10)
        for program in programs:
            self.assertEqual(program.do("launch 100"), {"done": 100})
        first.kill()
        for program in programs:
            self.assertEqual(program.do("launch 10"), {"done": 10})
        second = self.service()
        [profile] = [path for path in map(pathlib.Path, re.findall(
            r"recording into (\S+)", second.wait_for("recording into")))]
        self.wait_until(lambda: self.processes_in(profile) == 10, "ten targets come back")
        for program in programs:
            self.assertEqual(program.do("launch 1000"), {"done": 1000})
        for program in programs:
            self.assertEqual(program.quit(), 0, program.said)
        second.wait_for("10 processes, profile:")
        report = self.report_of(profile)
        self.assertEqual(sum(self.launches_by_name(report).values()), 10 * 1000)
        self.assert_nothing_lost(report)
        self.assertTrue(self.notices_with(report, "had no collector before"), report["run"])
        # What the first one wrote can be read, and says that it has no end.
        [other] = [path for path in self.profiles() if path != profile]
        completed = self.utlz("report", str(other))
        self.assertEqual(completed.returncode, 0, completed.stderr)
        self.assertIn("not ended", completed.stdout)
        second.stop()

    def test_restarted_in_order(self):
        """The first one ends its profiles whole, with all that was launched."""
        first = self.service()
        [program] = self.start(1)
        program.do("launch 100")
        first.stop()
        [profile] = self.profiles()
        self.assertEqual(sum(self.launches_by_name(self.report_of(profile)).values()), 100)
        second = self.service()
        second.wait_for("recording into")
        self.wait_until(lambda: len(self.profiles()) == 2, "another profile begins")
        [later] = [path for path in self.profiles() if path != profile]
        self.wait_until(lambda: self.processes_in(later) == 1, "the target comes back")
        program.do("launch 30")
        self.assertEqual(program.quit(), 0)
        second.wait_for("1 process, profile:")
        self.assertEqual(sum(self.launches_by_name(self.report_of(later)).values()), 30)
        second.stop()

    def test_a_target_that_was_there_first(self):
        [program] = self.start(1)
        self.assertEqual(program.do("launch 5"), {"done": 5})
        service = self.service()
        service.wait_for("recording into")
        [profile] = self.profiles()
        self.wait_until(lambda: self.processes_in(profile) == 1, "the target comes")
        program.do("launch 50")
        self.assertEqual(program.quit(), 0)
        service.wait_for("1 process, profile:")
        self.assertEqual(sum(self.launches_by_name(self.report_of(profile)).values()), 50)
        service.stop()

    def test_a_target_that_closes_everything(self):
        """It loses its connection with the rest, and is met anew."""
        service = self.service(linger="600")
        [program] = self.start(1)
        program.do("launch 10")
        program.do("close 3")
        service.wait_for("recording into")
        [profile] = self.profiles()
        self.wait_until(lambda: self.processes_in(profile) == 2, "the target comes back")
        program.do("launch 20")
        self.assertEqual(program.quit(), 0)
        service.stop()
        self.assertEqual(sum(self.launches_by_name(self.report_of(profile)).values()), 30)

    def test_children_without_exec_keep_nothing(self):
        """A forked child must not keep the connection of a parent that is gone."""
        service = self.service()
        [program] = self.start(1)
        program.do("launch 10")
        child = program.do("fork 1")["done"]
        program.process.kill()
        service.wait_for("1 process, profile:")
        self.assertTrue(pathlib.Path(f"/proc/{child}").exists(), "and the child outlived it")
        service.stop()


class HostileTest(ServiceTest):
    def test_rubbish_and_slowness(self):
        service = self.service()
        clients = []
        for i in range(200):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            client.connect(str(self.socket))
            if i % 2:
                client.send(os.urandom(1 + i))
            clients.append(client)
            if i % 50 == 0:
                target = self.run_target("ending", "status", UTLZ_JOB="good")
                self.assertEqual(target.returncode, 42, target.stderr)
        # Hellos that promise a ring which is none, with too many descriptors, and without.
        hello = b"UTLZ" + (3).to_bytes(4, "little") + bytes(8) + (1 << 20).to_bytes(8, "little")
        for descriptors in ([], [0], [0, 1, 2], [os.memfd_create("ring")]):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            client.connect(str(self.socket))
            socket.send_fds(client, [hello.ljust(56, b"\0")], descriptors)
            clients.append(client)
        target = self.run_target("ending", "status", UTLZ_JOB="good")
        self.assertEqual(target.returncode, 42, target.stderr)
        service.wait_for("connections were refused")
        for client in clients:
            client.close()
        service.stop()
        good = [self.report_of(profile) for profile in self.profiles_of("good")]
        self.assertEqual(sum(len(report["processes"]) for report in good), 5)
        for report in good:
            self.assert_nothing_lost(report)

    def test_a_target_that_floods(self):
        """It is read no faster than allowed, drops the rest and counts it; its neighbour loses
        nothing."""
        service = self.service("--most-rate", "0.2")
        # It sends twice what its ring holds at once. Whom it stops meanwhile is nobody.
        nobody = subprocess.Popen(["sleep", "600"])
        self.addCleanup(nobody.wait)
        self.addCleanup(nobody.kill)
        flood = subprocess.Popen(
            [self.program("unsteady_collector"), str(nobody.pid), "stopped", "overflow"],
            env=self.target_environment(UTLZ_JOB="flood"), cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(flood.kill)
        neighbour = self.run_target("ending", "status", UTLZ_JOB="neighbour")
        self.assertEqual(neighbour.returncode, 42)
        output, _ = flood.communicate(timeout=TIME_LIMIT_S)
        self.assertEqual(flood.returncode, 42)
        service.wait_for("profile:")
        service.wait_for("profile:")
        reports = {job: self.report_of(self.profiles_of(job)[0]) for job in ("flood", "neighbour")}
        self.assert_nothing_lost(reports["neighbour"])
        self.assertEqual(self.launches_by_name(reports["neighbour"]),
                         self.told_launches(neighbour.stdout))
        capture = reports["flood"]["capture"]
        self.assertGreater(capture["launches_dropped"], 0)
        self.assertEqual(capture["launches"] + capture["launches_dropped"],
                         sum(self.told_launches(output).values()))
        self.assertTrue(self.notices_with(reports["flood"], "Read no faster"))
        service.stop()

    def unanswered(self, service, reports):
        said = service.said.splitlines() + [
            notice for report in reports
            for notice in self.notices_with(report, "not recorded from the start")]
        found = [re.search(r"(\d+) process\w* \w+ not recorded from the start", text)
                 for text in said]
        return sum(int(one[1]) for one in found if one)

    def test_too_busy_to_answer(self):
        service = self.service()
        service.process.send_signal(signal.SIGSTOP)
        target = self.run_target("ending", "status")
        self.assertEqual(target.returncode, 42, target.stderr)
        service.process.send_signal(signal.SIGCONT)
        service.wait_for("1 process is not recorded from the start")
        service.stop()
        self.assertEqual(self.profiles(), [])

    def test_full_disk(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE,
                               (4096, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        service = self.service(preexec_fn=limit, restore_signals=False)
        for _ in range(2):
            target = self.run_target("training_steps", "1")
            self.assertEqual(target.returncode, 0, target.stderr)
        line = service.wait_for("profile, incomplete:")
        self.assertIn("File too large", service.said, line)
        service.stop()

    def test_clock_set_back(self):
        clock = self.folder / "clock"
        clock.write_text("0")
        service = self.service(
            "--history", str(self.folder / "history"),
            environment={**self.test_environment, "UTLZ_TEST_CLOCK": str(clock),
                         "LD_PRELOAD": self.program("set_clock.so")})
        before = self.run_target("ending", "status")
        service.wait_for("1 process, profile:")
        clock.write_text("-7200")
        after = self.run_target("ending", "status")
        service.wait_for("1 process, profile:")
        self.assertEqual(self.launches_in(self.reports()),
                         self.told_launches(before.stdout, after.stdout))
        service.stop()
        history = self.utlz("report", "--since", "3h", "--history", str(self.folder / "history"),
                            "--format", "json")
        runs = [run for job in json.loads(history.stdout)["jobs"] for run in job["runs"]]
        self.assertEqual(len(runs), 2)
        self.assertTrue(all(run["figures"]["seconds"] < 60 for run in runs), runs)

    def test_short_targets(self):
        """Memory is flat, and each of them is in a profile. A test of its own has a thousand."""
        count = int(os.environ.get("UTLZ_SERVICE_TARGETS", "100"))
        # AddressSanitizer would keep 256 MiB of freed memory.
        service = self.service("--metrics", "127.0.0.1:0", patience_s=7 * TIME_LIMIT_S,
                               environment={**self.test_environment,
                                            "ASAN_OPTIONS": "quarantine_size_mb=1"})
        program = self.program("ending")
        memory = []
        batch = count // 10
        for i in range(10):
            done = subprocess.run(
                ["/bin/sh", "-c", f"i=0; while [ $i -lt {batch} ]; do '{program}' status "
                                  ">> told; i=$((i+1)); done"],
                env=self.target_environment(UTLZ_JOB=f"batch-{i}"), cwd=self.folder, check=False)
            self.assertEqual(done.returncode, 0)
            memory.append(service.memory_kib())
        service.stop()
        reports = self.reports()
        # A starved collector answers some too late; it says of how many.
        recorded = count - self.unanswered(service, reports)
        self.assertEqual(sum(len(report["processes"]) for report in reports), recorded)
        told = self.told_launches((self.folder / "told").read_text("utf-8"))
        self.assertEqual(self.launches_in(reports),
                         {name: launches // count * recorded for name, launches in told.items()})
        if not SANITIZER:  # which keeps what was freed
            self.assertLess(memory[-1], memory[3] + 32 * 1024, memory)

    def test_more_jobs_than_it_may_record(self):
        """The one too many is not recorded, goes on unharmed, and is when there is room."""
        service = self.service("--most-jobs", "1")
        first = Program(self.program("on_command"), self.target_environment(UTLZ_JOB="a"),
                        self.folder)
        self.addCleanup(first.close)
        second = Program(self.program("on_command"), self.target_environment(UTLZ_JOB="b"),
                         self.folder)
        self.addCleanup(second.close)
        service.wait_for("not recorded")
        self.assertEqual(second.do("launch 10"), {"done": 10})
        self.assertEqual(first.quit(), 0)
        service.wait_for("b: recording into")
        self.assertEqual(second.quit(), 0)
        service.stop()


class RulesTest(ServiceTest):
    def start(self):
        """A program of a name that no other test's has."""
        path = self.folder / f"ruled-{self.folder.name}"
        if not path.exists():
            shutil.copy(self.program("on_command"), path)
        program = Program(str(path), self.test_environment, self.folder)
        self.addCleanup(program.close)
        program.do("launch 10")
        rules = self.folder / "rules.json"
        rules.write_text(json.dumps([{"name": path.name, "user": "12345"},
                                     {"name": path.name, "user": str(os.geteuid())}]))
        return program, rules

    def test_attaches_by_rule(self):
        program, rules = self.start()
        service = self.service("--rules", str(rules))
        service.wait_for("by a rule")
        program.do("launch 20")
        self.assertEqual(program.quit(), 0)
        service.wait_for("1 process, profile:")
        [report] = self.reports()
        self.assertEqual(sum(self.launches_by_name(report).values()), 20)
        service.stop()

    def test_an_attachment_waits_for_another_one(self):
        """For longer than a job lingers; its own is not over for that."""
        self.test_environment = self.environment("instant=1,register_ms=1500", UTLZ_JOB="first")
        first, rules = self.start()
        self.test_environment["UTLZ_JOB"] = "second"
        second, _ = self.start()
        service = self.service("--rules", str(rules))
        for _ in range(2):
            service.wait_for("by a rule")
        for program in (first, second):
            program.do("launch 20")
            self.assertEqual(program.quit(), 0)
        for _ in range(2):
            service.wait_for("1 process, profile:")
        self.assertEqual([sum(self.launches_by_name(report).values())
                          for report in self.reports()], [20, 20])
        service.stop()

    def test_lets_go_at_its_end(self):
        program, rules = self.start()
        service = self.service("--rules", str(rules))
        service.wait_for("by a rule")
        service.kill()
        names = f"/proc/{program.pid}/task"
        self.wait_until(
            lambda: "utlz-inactive" in [pathlib.Path(names, task, "comm").read_text("utf-8").strip()
                                      for task in os.listdir(names)], "the agent falls inactive")
        self.assertEqual(program.do("launch 10"), {"done": 10})
        self.assertEqual(program.quit(), 0)

    def test_rules_that_cannot_be(self):
        rules = self.folder / "rules.json"
        rules.write_text('[{"name": "python3"}]')
        refused = self.utlz("collector", "--socket", str(self.socket), "--rules", str(rules))
        self.assertEqual(refused.returncode, 1)
        self.assertIn("name alone", refused.stderr)


class ServiceMetricsTest(ServiceTest):
    def get(self, place):
        host, port = re.search(r"http://([0-9.]+):(\d+)/", place).groups()
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        connection.request("GET", "/metrics")
        page = connection.getresponse().read().decode()
        connection.close()
        return samples_of(page)

    def test_all_targets_in_one_page(self):
        service = self.service("--metrics", "127.0.0.1:0")
        place = re.search(r"metrics: (\S+)", service.said)[1]
        programs = []
        for job in ("a", "b"):
            program = Program(self.program("on_command"), self.target_environment(
                UTLZ_JOB=job, KUBERNETES_SERVICE_HOST="1", POD_NAME=f"pod-{job}"), self.folder)
            self.addCleanup(program.close)
            program.do("launch 100")
            programs.append(program)
        for job in ("a", "b"):
            self.wait_until(lambda job=job: total(self.get(place), "utlz_kernel_launches_total",
                                                  utlz_job=job, pod=f"pod-{job}") == 100,
                            "both are on the page")
            self.assertEqual(total(self.get(place), "utlz_alarms_total", utlz_job=job), 0,
                             "each job is looked at, and nothing is wrong with it")
        for program in programs:
            program.quit()
        service.wait_for("profile:")
        service.wait_for("profile:")
        samples = self.get(place)
        self.assertEqual(total(samples, "utlz_kernel_launches_total"), 200,
                         "what a job counted stays for a while")
        service.stop()


class HistoryTest(ServiceTest):
    def test_trends_over_runs(self):
        folder = str(self.folder / "history")
        for _ in range(2):
            run = LiveRun(self, "127.0.0.1:0", "training_steps", "600", options=(
                "--counters=sample", "--overhead-budget=unlimited", "--history", folder,
                "--history-size", "16MiB"))
            run.samples_with("utlz_hfu_ratio")  # however long that takes
            run.end()
        shown = self.utlz("report", "--since", "1h", "--history", folder, "--format", "json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        [job] = json.loads(shown.stdout)["jobs"]
        self.assertEqual(job["job"], "training_steps 600")
        self.assertEqual(len(job["runs"]), 2)
        for run in job["runs"]:
            self.assertTrue(run["ended"])
            self.assertGreater(run["figures"]["hfu"], 0)
            self.assertLess(run["figures"]["hfu"], 1)
        first, second = (run["figures"]["hfu"] for run in job["runs"])
        self.assertAlmostEqual(job["hfu_change"], second / first, places=6)
        text = self.utlz("report", "--since", "1h", "--history", folder)
        self.assertIn("training_steps 600 on", text.stdout)
        self.assertIn("2 runs", text.stdout)
        page = self.utlz("report", "--since", "1h", "--history", folder, "--format", "html")
        self.assertIn("HFU of each run", page.stdout)

    def test_service_keeps_one(self):
        folder = self.folder / "history"
        service = self.service("--history", str(folder))
        self.run_target("ending", "status")
        service.wait_for("1 process, profile:")
        service.stop()
        shown = self.utlz("report", "--since", "1h", "--history", str(folder), "--format", "json")
        [job] = json.loads(shown.stdout)["jobs"]
        self.assertEqual(job["job"], "ending status")

    def test_what_it_does_not_take(self):
        self.assertEqual(self.utlz("report").returncode, 2)
        self.assertEqual(self.utlz("report", "--since", "soon").returncode, 2)
        refused = self.utlz("report", "--since", "2h", "--format", "csv")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("text, html or json", refused.stderr)
        missing = self.utlz("report", "--since", "2h", "--history", str(self.folder / "none"))
        self.assertEqual(missing.returncode, 1)
        self.assertIn("record one: utlz run --history", missing.stderr)


if __name__ == "__main__":
    unittest.main()
