"""The price bench: what it takes for a figure and a pair, how it forks, and which ways words stand for."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import unittest

import price
import price_analysis
import price_states
import price_ways
from price_report import stated_slowdown

HERE = pathlib.Path(__file__).resolve().parent

FAKE_UTLZ = """#!{python}
import json, pathlib, subprocess, sys
if sys.argv[1] == "report":
    print(json.dumps({{"capture": {{"slowdown": {{"share": 0.004}}, "coverage_share": 0.2}},
                      "processes": [{{"launches": 7, "pid": 1}}]}}))
    sys.exit(0)
split = sys.argv.index("--")
pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text("a profile")
sys.exit(subprocess.call(sys.argv[split + 1:]))
"""

FAKE_CUPTI = """
#include <stddef.h>
#include <stdint.h>
static void (*requested)(uint8_t**, size_t*, size_t*);
static void (*completed)(void*, uint32_t, uint8_t*, size_t, size_t);
static int records;
int cuptiGetVersion(uint32_t* version) { return *version = 13, 0; }
int cuptiSubscribe(void** one, void* call, void* user) { return *one = call, (void)user, 0; }
int cuptiActivityRegisterCallbacks(void* request, void* complete) {
  return requested = request, completed = complete, 0;
}
int cuptiActivityEnable(int kind) { return records = kind, 0; }
int cuptiActivityDisable(int kind) { return (void)kind, 0; }
int cuptiActivityEnableContext(void* context, int kind) { return records = kind, context == NULL; }
int cuptiActivityDisableContext(void* context, int kind) { return (void)kind, context == NULL; }
int cuCtxGetCurrent(void** context) { return *context = &records, 0; }
int cuptiActivityFlushAll(uint32_t flag) {
  uint8_t* buffer;
  size_t size, most;
  (void)flag;
  if (records == 0) return 0;
  requested(&buffer, &size, &most);
  completed(NULL, 0, buffer, size, 160);
  return records = 0;
}
"""

# In a module of its own: the server imports it by name.
CHILD = """
import atexit, ctypes, json, os, pathlib, signal
def main(words):
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    known = {"pid": os.getpid(), "parent": os.getppid(), "folder": os.getcwd(),
             "getenv": (getenv(b"PRICE_TEST") or b"").decode(), "old": os.environ.get("OF_SERVER")}
    atexit.register(lambda: pathlib.Path(words[0]).write_text(json.dumps(known)))
    if words[1] == "wait":
        pathlib.Path(words[0] + ".begun").write_text(str(os.getpid()))
        signal.pause()
    print("said by the child", flush=True)
    return int(words[1])
"""


def measured(threads, references, wall=1.0):
    """Pieces of a process: a second each, one after the other, and the references between them."""
    pieces = [[10.0 * i, 10.0 * i + wall, thread, thread] for i, thread in enumerate(threads)]
    return {"pieces": pieces, "references": [[5.0, 5.0 + time, time] for time in references]}


def run_of(way, value, number=0, call=1.0):
    figures = dict.fromkeys((column[2] for column in price_analysis.COLUMNS), value)
    return {"way": way, "round": number, "call": call,
            "figures": {"all": {**figures, "others": 0.01}, "later": figures}}


class FiguresTest(unittest.TestCase):

    def test_a_piece_is_measured_in_turns_of_the_reference_before_and_after_it(self):
        # The host gets slower by half, and the work with it.
        found = price_analysis.ratios(measured([0.5, 1.0], [0.125, 0.125, 0.375]))
        self.assertEqual([[4.0, 8.0], [4.0, 4.0]], found)

    def test_a_host_that_drifts_does_not_change_the_figure(self):
        speeds = [1.0, 1.3, 0.8, 1.1]
        drifting = measured([2.0 * speed for speed in speeds], [0.1] * 5)
        drifting["references"] = [[0, 1, 0.1 * speed] for speed in (1.0, 1.0, 1.6, 0.0, 2.2)]
        for thread, _ in price_analysis.ratios(drifting):
            self.assertAlmostEqual(20.0, thread)

    def test_the_later_pieces_are_those_five_seconds_after_the_first(self):
        figures = price_analysis.figures_of(measured([9.0, 0.2, 0.4], [0.1] * 4), 5.0)
        self.assertEqual(2, figures["pieces"])
        self.assertAlmostEqual(3.0, figures["thread_ratio"])

    def test_other_threads_are_a_share_of_the_time(self):
        child = measured([0.5], [0.1, 0.1], wall=2.0)
        child["pieces"][0][3] = 0.6
        self.assertAlmostEqual(0.05, price_analysis.figures_of(child)["others"])

    def test_a_reference_that_was_too_short_to_measure_tells_nothing(self):
        batches = [(0, 0, 2e-6, 0, 1e-3), (0, 0, 5.0, 0, 0.0)]
        self.assertAlmostEqual(price_analysis.steady_ns(batches, 1e-3), 2000)
        self.assertIsNone(price_analysis.steady_ns(batches[1:], 1e-3))


class PairsTest(unittest.TestCase):

    def test_a_run_is_compared_with_the_mean_of_those_alone_before_and_after(self):
        runs = [run_of("alone", 1.0), run_of("default", 2.2), run_of("windows", 2.0),
                run_of("alone", 3.0)]
        self.assertAlmostEqual(0.1, price_analysis.changes(runs, "default", "all", "wall")[0])
        self.assertEqual([2.0, 1 / 3 - 1], price_analysis.changes(runs, "alone", "all", "wall")[::-1])

    def test_a_run_alone_of_another_call_or_without_figures_is_none(self):
        failed = {**run_of("alone", 1.0), "figures": {}}
        runs = [run_of("alone", 9.0, call=1.0), failed, run_of("default", 2.0, call=2.0),
                run_of("alone", 1.0, call=2.0)]
        self.assertEqual([], price_analysis.changes(runs[:3], "default", "all", "wall"))
        self.assertEqual([1.0], price_analysis.changes(runs, "default", "all", "wall"))

    def test_the_table_states_what_the_report_says_beside_what_was_measured(self):
        slow = {**run_of("default", 1.1), "report": {"slowdown_share": 0.004,
                                                     "slowdown_error_share": 0.003}}
        runs = [run_of("alone", 1.0), slow] * 4
        row = next(line for line in price_analysis.table("generate", runs, ["alone", "default"])
                   .splitlines() if line.startswith("| default"))
        self.assertIn("+10.00 % (+10.00 … +10.00; 4)", row)
        self.assertIn("0.40 ± 0.30 %, 9.30 % apart", row)

    def test_the_table_says_where_the_report_holds_what_was_measured(self):
        slow = {**run_of("default", 1.1), "report": {"slowdown_share": 0.08,
                                                     "slowdown_error_share": 0.03}}
        runs = [run_of("alone", 1.0), slow] * 4
        table = price_analysis.table("generate", runs, ["alone", "default"])
        self.assertIn("8.00 ± 3.00 %, holds it", table)

    def test_the_steps_slowdown_is_what_pieces_are_compared_with(self):
        slowdown = {"share": 0.01, "error_share": 0.005, "steps_share": 0.03,
                    "steps_error_share": 0.02}
        self.assertEqual((0.03, 0.02), stated_slowdown({"slowdown": slowdown, "coverage_share": 1}))
        in_windows = {"slowdown": slowdown, "coverage_share": 0.2}
        self.assertEqual((0.01, 0.005), stated_slowdown(in_windows), "of the recorded steps alone")
        smaller = {**slowdown, "steps_share": 0.004}
        self.assertEqual((0.01, 0.005), stated_slowdown({"slowdown": smaller, "coverage_share": 1}))
        self.assertEqual((None, None), stated_slowdown({}))

    def test_after_and_before_are_compared_by_their_medians(self):
        change, low, high = price_analysis.change_and_interval([1.0, 1.0, 1.0], [1.1, 1.1, 5.0])
        self.assertAlmostEqual(0.1, change)
        self.assertLessEqual(low, change)
        self.assertGreaterEqual(high, change)


def run_at(way, speeds, cost):
    """A run whose pieces take `cost` times the reference, on a host of these speeds in turn."""
    references, pieces = [], []
    for speed in speeds:
        references += [[0, 0, speed, speed]] * 2
        pieces += [[0, 0, cost * speed, 0]] * 2
    return {"way": way, "pieces": pieces, "references": [*references, references[-1]]}


class StatesTest(unittest.TestCase):

    def test_pieces_are_compared_where_the_host_was_as_fast(self):
        alone = run_at("alone", [0.030] * 4 + [0.050] * 4, 4.0)
        # Twice as often at the fast speed, so that its own median is below that of the run alone.
        slower = run_at("default", [0.030] * 8 + [0.050] * 4, 4.4)
        pieces = [price_states.pieces_by_band([alone, slower], way) for way in ("alone", "default")]
        self.assertAlmostEqual(0.1, price_states.change(*pieces))

    def test_a_piece_during_which_the_speed_changed_is_not_compared(self):
        pieces = price_states.pieces_by_band([run_at("alone", [0.030, 0.050], 4.0)], "alone")
        self.assertEqual([1, 2], sorted(map(len, pieces.values())))

    def test_a_speed_that_the_runs_alone_never_met_tells_nothing(self):
        pieces = [price_states.pieces_by_band([run_at("x", [speed] * 4, 4.0)], "x")
                  for speed in (0.030, 0.050)]
        self.assertIsNone(price_states.change(*pieces))
        self.assertIsNone(price_states.change_and_interval(*pieces))


class WaysTest(unittest.TestCase):

    COPIES = ["/v/site-packages/nvidia/cu13/lib/libcupti.so.13", "/opt/ncu/libcupti.so.2025.2"]

    def test_all_and_torch_stand_for_copies(self):
        names = [way["name"] for way in
                 price_ways.expand_ways(["cupti:all", "cupti-recorded:torch", "default@ncu"],
                                        self.COPIES)]
        self.assertEqual(["alone", *(f"cupti:{path}" for path in self.COPIES),
                          f"cupti-recorded:{self.COPIES[0]}", f"default@{self.COPIES[1]}"], names)

    def test_what_names_nothing_is_refused(self):
        for word in ("defualt", "cupti:no-such-copy", "cupti", "default:torch"):
            with self.assertRaises(ValueError):
                price_ways.expand_ways([word], self.COPIES)

    def test_a_word_with_a_load_is_for_that_load(self):
        ways = price.ways_of_loads(["default", "generate=windows"], ["generate", "stream"], [])
        self.assertEqual({"generate": ["alone", "default", "windows"],
                          "stream": ["alone", "default"]},
                         {load: [way["name"] for way in of] for load, of in ways.items()})

    def test_every_way_is_first_once_and_the_program_alone_is_there_twice(self):
        for count in range(2, 13):
            others = [{"name": str(number)} for number in range(count)]
            ways = [price_ways.alone(), *others]
            orders = [[way["name"] for way in price_ways.order_of_round(ways, number)]
                      for number in range(count)]
            self.assertEqual(sorted(way["name"] for way in others),
                             sorted(order[1] for order in orders))
            for order in orders:
                self.assertEqual([0, 1 + (count + 1) // 2],
                                 [i for i, name in enumerate(order) if name == "alone"])


class ServerTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        (self.folder / "price_test_child.py").write_text(CHILD)
        self.socket = str(self.folder / "socket")
        self.result = self.folder / "result"
        os.environ.update(PYTHONPATH=str(self.folder), OF_SERVER="1")
        self.addCleanup(lambda: [os.environ.pop(name) for name in ("PYTHONPATH", "OF_SERVER")])
        server = price.Server(self.socket, self.folder, ["fake"])
        server.__enter__()
        self.addCleanup(server.__exit__)
        self.server = server

    def ask(self, *words):
        environment = {"PATH": os.environ["PATH"], "PRICE_TEST": "of the client"}
        return subprocess.Popen([sys.executable, str(HERE / "price_server.py"), "ask", self.socket,
                                 "price_test_child", str(self.result), *words],
                                env=environment, cwd="/", stdout=subprocess.PIPE, text=True)

    def test_the_child_has_the_clients_environment_folder_and_output_and_ends_normally(self):
        with self.ask("7") as client:
            self.assertEqual("said by the child\n", client.stdout.read())
        self.assertEqual(7, client.returncode)
        known = json.loads(self.result.read_text())  # a handler of exit wrote it
        self.assertEqual(("of the client", "/", None),
                         (known["getenv"], known["folder"], known["old"]))
        self.assertEqual(self.server._process.pid, known["parent"])

    def test_each_request_gets_a_process_of_its_own(self):
        pids = set()
        for _ in range(2):
            self.assertEqual("said by the child\n", self.ask("0").communicate()[0])
            pids.add(json.loads(self.result.read_text())["pid"])
        self.assertEqual(2, len(pids))

    def test_the_child_of_a_client_that_is_killed_is_killed(self):
        begun = pathlib.Path(f"{self.result}.begun")
        with self.ask("wait") as client:
            while not begun.exists() or not begun.read_text():
                self.assertIsNone(client.poll())
            child = os.pidfd_open(int(begun.read_text()))
            client.send_signal(signal.SIGKILL)
            self.addCleanup(os.close, child)
            self.assertTrue(select.select([child], [], [], 20)[0])
        self.ask("0").communicate()
        self.assertTrue(self.result.exists())  # the server goes on


class WholeBenchTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.utlz = self.folder / "utlz"
        self.utlz.write_text(FAKE_UTLZ.format(python=sys.executable))
        self.utlz.chmod(0o755)

    def bench(self, *options):
        done = subprocess.run(
            [sys.executable, "-B", str(HERE / "price.py"), "--utlz", str(self.utlz), "--output",
             str(self.folder), "--loads", "fake", "--seconds", "0.05", "--reference-scale", "0.05",
             *options], check=True, stdout=subprocess.PIPE, text=True)
        return json.loads((self.folder / "results.json").read_text()), done.stdout

    def test_rounds_have_every_way_and_a_second_call_goes_on(self):
        words = ["--series", "--ways", "default", "windows", "--rounds"]
        first, _ = self.bench(*words, "1")
        both, _ = self.bench(*words, "2")
        runs = both["runs"]["fake"]
        self.assertEqual(["alone", "default", "alone", "windows", "alone", "windows", "alone",
                          "default"], [run["way"] for run in runs])
        self.assertEqual(first["runs"]["fake"], runs[:4])
        self.assertEqual(2, len({run["call"] for run in runs}))
        self.assertEqual(0.004, runs[1]["report"]["slowdown_share"])
        self.assertEqual(7, runs[1]["report"]["processes"][0]["launches"])
        for run in runs:
            self.assertEqual(len(run["pieces"]) + 1, len(run["references"]))
            self.assertGreater(run["figures"]["all"]["thread_ratio"], 0)

    def test_series_load_cupti_in_the_running_process(self):
        source, library = self.folder / "fake.c", self.folder / "libfake.so"
        source.write_text(FAKE_CUPTI)
        compiler = os.environ.get("CC", "gcc")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        os.environ["LD_PRELOAD"] = str(library)  # for its cuCtxGetCurrent
        self.addCleanup(os.environ.pop, "LD_PRELOAD")
        results, said = self.bench(
            "--ways", "--rounds", "0", "--series-cupti", str(library), "--after-window-s", "0.2",
            "--after-s", "0.1", "--series", "before-after:none", "before-after:recorded",
            "after-window")
        none, recorded = (results["series"][f"before-after:{mode}"] for mode in ("none", "recorded"))
        self.assertEqual((0, None, 160, 13), (none["recorded_bytes"], none["version"],
                                              recorded["recorded_bytes"], recorded["version"]))
        cycles = {cycle["window"]: cycle for cycle in results["series"]["after-window"]["cycles"]}
        self.assertEqual({"no window": 0, "context, flush 0": 160, "context, no flush": 0},
                         {name: cycles[name]["bytes_at_once"] for name in
                          ("no window", "context, flush 0", "context, no flush")})
        self.assertIn("| fake, recorded |", said)
        self.assertIn("| context, forced (", said)


if __name__ == "__main__":
    unittest.main()
