"""Launching sections of processes side by side: pieces, ratios, intervals, places, and a whole bench."""

import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import forked_launches
import launch_sections
import section_ratios

HERE = pathlib.Path(__file__).resolve().parent

FAKE_UTLZ = """#!{python}
import json, pathlib, subprocess, sys
if sys.argv[1] == "report":
    print(json.dumps({{"capture": {{"slowdown": {{"share": 0.004}}, "samples": 5}},
                      "processes": [{{"launches": 7}}]}}))
    sys.exit(0)
split = sys.argv.index("--")
pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text("a profile")
sys.exit(subprocess.call(sys.argv[split + 1:]))
"""


def made_up(way, number, copy, cost, speeds):
    """A process whose sections take `cost` references, at a speed of the host for each piece."""
    pieces = [[0.25 * i, 40, 40 * 0.001 * cost * speed, 40, 40 * 0.001 * speed]
              for i, speed in enumerate(speeds)]
    return {"way": way, "round": number, "copy": copy, "pieces": pieces}


def made_up_rounds(costs, rounds=24, noise=0.02, seed=3):
    """Processes of 13 s, two of each way, whose host changes its speed from piece to piece."""
    generator = random.Random(seed)
    runs = []
    for number in range(rounds):
        of_round = generator.uniform(0.9, 1.1)  # common to what runs side by side
        for way, cost in costs.items():
            for copy in (0, 1):
                own = of_round * generator.gauss(1, noise)
                speeds = [generator.choice((1.0, 1.5)) for _ in range(52)]
                runs.append(made_up(way, number, copy, cost * own, speeds))
    return runs


class PiecesTest(unittest.TestCase):

    def test_steps_are_added_up_by_the_quarter_of_a_second_they_begin_in(self):
        pieces = launch_sections.Pieces()
        for at_s in (1.0, 1.24, 1.25, 2.0):
            pieces.add(at_s, 0.5, 0.25)
        self.assertEqual([[1.0, 2, 1.0, 2, 0.5], [1.25, 1, 0.5, 1, 0.25], [2.0, 1, 0.5, 1, 0.25]],
                         pieces.found)


class RatiosTest(unittest.TestCase):

    def test_a_host_that_changes_its_speed_does_not_change_a_figure(self):
        run = made_up("alone", 0, 0, 3.0, [1.0, 1.5, 0.7, 1.1])
        self.assertAlmostEqual(3.0, section_ratios.figure_of(run, "first ten seconds"))

    def test_the_first_ten_seconds_and_the_time_after_them_are_apart(self):
        run = made_up("default", 0, 0, 2.0, [1.0] * 52)
        for piece in run["pieces"][40:]:
            piece[section_ratios.SECTION_S] *= 2
        self.assertAlmostEqual(2.0, section_ratios.figure_of(run, "first ten seconds"))
        self.assertAlmostEqual(4.0, section_ratios.figure_of(run, "after them"))

    def test_a_process_without_pieces_in_that_time_has_no_figure(self):
        run = made_up("default", 0, 0, 2.0, [1.0] * 8)
        self.assertIsNone(section_ratios.figure_of(run, "after them"))
        self.assertIsNone(section_ratios.figure_of({"error": "it ended"}, "after them"))

    def test_only_ways_of_the_same_round_are_compared(self):
        runs = [made_up("default", 0, 0, 2.2, [1.0]), made_up("cupti", 0, 0, 2.0, [1.0]),
                made_up("default", 1, 0, 9.0, [1.0]), made_up("cupti", 2, 0, 2.0, [1.0])]
        found = section_ratios.changes(runs, "first ten seconds", "default", "cupti")
        self.assertEqual(1, len(found))
        self.assertAlmostEqual(math.log(1.1), found[0])

    def test_copies_of_a_way_are_averaged_and_those_alone_are_the_null(self):
        runs = [made_up("default", 0, 0, 2.0, [1.0]), made_up("default", 0, 1, 4.0, [1.0]),
                made_up("alone", 0, 0, 1.5, [1.0]), made_up("alone", 0, 1, 2.5, [1.0])]
        part = "first ten seconds"
        self.assertAlmostEqual(math.log(1.5),
                               section_ratios.changes(runs, part, "default", "alone")[0])
        self.assertAlmostEqual(math.log(0.6), section_ratios.null_changes(runs, part)[0])


class IntervalTest(unittest.TestCase):

    def test_the_middle_half_leaves_out_what_the_host_disturbed(self):
        self.assertAlmostEqual(2.5, section_ratios.middle_mean([1, 2, 3, 90, 2, 3, 2, 3]))
        self.assertEqual(4, section_ratios.middle_mean([4]))

    def test_a_cost_of_a_per_cent_is_found_below_the_noise_of_single_processes(self):
        compared = section_ratios.compare(
            made_up_rounds({"alone": 3.0, "cupti": 3.06, "default": 3.06 * 1.03}))
        for part in section_ratios.PARTS:
            for name, expected in (("default ÷ cupti", 0.03), ("default ÷ alone", 0.0506),
                                   ("cupti ÷ alone", 0.02), (section_ratios.NULL, 0.0)):
                change, low, high, rounds = compared[part][name]
                self.assertAlmostEqual(expected, change, delta=0.015, msg=name)
                self.assertTrue(low < change < high, name)
                self.assertTrue(low <= expected <= high, name)
                self.assertEqual(24, rounds)
        self.assertGreater(compared["after them"]["default ÷ cupti"][1], 0.015)

    def test_one_round_has_no_interval(self):
        runs = made_up_rounds({"alone": 1.0, "cupti": 1.0, "default": 1.0}, rounds=1)
        compared = section_ratios.compare(runs)
        self.assertEqual({}, compared["after them"])
        self.assertIn("| – |",
                      section_ratios.table("decode", runs, section_ratios.PARTS, compared))


class PlacesTest(unittest.TestCase):

    def test_each_way_comes_to_each_place_and_stands_there_once_a_round(self):
        ways = ["alone", "cupti", "default"]
        seen = set()
        for number in range(6):
            programs = forked_launches.side_by_side(ways, 2, number)
            self.assertEqual(6, len(set(programs)))
            seen |= set(programs)
        self.assertEqual(36, len(seen))

    def test_places_have_physical_cores_and_siblings_idle_where_there_are_enough(self):
        pairs = lambda core: {core & ~1, core | 1}  # noqa: E731
        self.assertEqual(([0, 2, 4, 6], set(range(8, 16))),
                         forked_launches.cores_of(set(range(16)), pairs, 4))

    def test_what_else_runs_has_as_many_cores_as_there_are_places(self):
        pairs = lambda core: {core & ~1, core | 1}  # noqa: E731
        cores, others = forked_launches.cores_of(set(range(16)), pairs, 6)
        self.assertEqual([0, 2, 4, 6, 8, 10], cores)
        self.assertEqual({1, 3, 5, 7, 9, 11, 12, 13, 14, 15}, others)

    def test_on_few_cores_nothing_is_bound(self):
        self.assertEqual(([None] * 6, {0, 1}),
                         forked_launches.cores_of({0, 1}, lambda core: {core}, 6))


class WholeBenchTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.utlz = self.folder / "utlz"
        self.utlz.write_text(FAKE_UTLZ.format(python=sys.executable))
        self.utlz.chmod(0o755)

    def bench(self, *options):
        return subprocess.run(
            [sys.executable, "-B", str(HERE / "forked_launches.py"), "--utlz", str(self.utlz),
             "--output", str(self.folder / "out"), "--loads", "fake", *options],
            check=True, stdout=subprocess.PIPE, text=True)

    def test_rounds_have_each_way_in_its_place_and_utlz_reports_of_its_own(self):
        done = self.bench("--ways", "alone", "default", "--rounds", "2", "--seconds", "0.6")
        results = json.loads((self.folder / "out/results.json").read_text())
        runs = results["runs"]["fake"]
        self.assertEqual(
            {(number, way, copy) for number in (0, 1) for way in ("alone", "default")
             for copy in (0, 1)}, {(run["round"], run["way"], run["copy"]) for run in runs})
        for run in runs:
            self.assertGreater(section_ratios.figure_of(run, "first ten seconds"), 0, run)
            self.assertEqual(run["way"] == "default", "report" in run)
        self.assertEqual([7], next(run for run in runs if "report" in run)["report"]["launches"])
        self.assertEqual(2, results["compared"]["fake"]["first ten seconds"]["default ÷ alone"][3])
        self.assertIn("| | default ÷ alone | alone ÷ alone | ", done.stdout,
                      "comparisons of ways that are not there have no column")
        self.assertIn("| after them | – | – | – |", done.stdout)

    def test_a_second_call_goes_on_with_the_next_round(self):
        words = ["--ways", "default", "--copies", "1", "--seconds", "0.1", "--rounds"]
        self.bench(*words, "1")
        self.bench(*words, "2")
        runs = json.loads((self.folder / "out/results.json").read_text())["runs"]["fake"]
        self.assertEqual([0, 0, 1, 1], [run["round"] for run in runs])

    def test_a_process_that_fails_is_said_and_has_no_figure(self):
        self.utlz.write_text(f"#!{sys.executable}\nraise SystemExit(3)\n")
        done = self.bench("--ways", "default", "--copies", "1", "--rounds", "1", "--seconds", "0.1")
        self.assertIn("fake, round 1, default: ended with 3", done.stdout)
        self.assertIn("| – |", done.stdout)


if __name__ == "__main__":
    unittest.main()
