"""Processes that take turns on one core: who is told what, and how their figures are compared."""

import json
import math
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import forked_launches
import section_ratios
import turn_ratios
from launch_turns import TURN, Conductor, Turns

HERE = pathlib.Path(__file__).resolve().parent
PART = "after them"


def made_up(way, copy, sections, number=0, place=0, begin_s=20.0):
    """A process with one section in each turn, of so many seconds."""
    pieces = [[begin_s, 2, 2 * section, 2, 0.1, turn] for turn, section in sections.items()]
    return {"way": way, "copy": copy, "round": number, "place": place, "pieces": pieces}


def made_up_rounds(costs, rounds=16, places=4, turns=150, seed=3):
    """Cores whose speed changes by half from time to time, noise of 5 % on every section, and servers
    of which each costs its program up to 2 % more."""
    generator = random.Random(seed)
    programs = [("alone", 0), ("cupti", 0), ("default", 0), ("alone", 1)]
    runs = []
    for number in range(rounds):
        for place in range(places):
            speeds = [generator.choice((1.0, 1.5)) for _ in range(turns // 10)
                      for _ in range(10)]
            for server, (way, copy) in enumerate(programs[number % 4:] + programs[:number % 4]):
                runs.append(made_up(way, copy, {
                    turn: costs[way] * speed * (1 + 0.007 * server) * generator.gauss(1, 0.05)
                    for turn, speed in enumerate(speeds)}, number, place))
    return runs


class TurnRatiosTest(unittest.TestCase):

    def test_only_the_same_turn_on_the_same_core_is_compared(self):
        pair = turn_ratios.cores([made_up("default", 0, {1: 1.1, 2: 3.3, 3: 9.0}),
                                  made_up("cupti", 0, {1: 1, 2: 3}),
                                  made_up("cupti", 0, {3: 1.0}, place=1)], PART)[0, 0]
        self.assertAlmostEqual(math.log(1.1),
                               turn_ratios.change_of_core(pair["default"], pair["cupti"]))

    def test_processes_alone_are_averaged_and_compared_with_each_other(self):
        runs = [made_up(way, copy, {1: section}, number) for number in range(3)
                for way, copy, section in (("alone", 0, 2.0), ("alone", 1, 4.0), ("default", 0, 3.3))]
        self.assertAlmostEqual(math.log(1.1), turn_ratios.changes(runs, PART, "default", "alone")[0])
        self.assertAlmostEqual(math.log(0.5), turn_ratios.null_changes(runs, PART)[0])

    def test_what_a_server_costs_is_gone_where_each_program_came_to_each(self):
        runs = [made_up(way, 0, {1: 1.02 if (way == "default") == (number % 2 == 0) else 1.0}, number)
                for number in range(5) for way in ("default", "cupti")]
        found = turn_ratios.changes(runs, PART, "default", "cupti")
        self.assertEqual(2, len(found), "the last round is no whole rotation")
        for change in found:
            self.assertAlmostEqual(0.0, change)

    def test_a_rotation_of_which_a_process_failed_is_left_out(self):
        runs = [made_up(way, 0, {1: 1.0}, number) for number in range(4)
                for way in ("default", "cupti")]
        runs[2].pop("pieces")
        self.assertEqual([0.0], turn_ratios.changes(runs, PART, "default", "cupti"))

    def test_a_cost_of_one_per_cent_is_found(self):
        compared = turn_ratios.compare(
            made_up_rounds({"alone": 0.010, "cupti": 0.0102, "default": 0.0102 * 1.01}))[PART]
        for name, expected in (("default ÷ cupti", 0.01), ("default ÷ alone", 0.0302),
                               ("cupti ÷ alone", 0.02), (section_ratios.NULL, 0.0)):
            change, low, high, count = compared[name]
            self.assertAlmostEqual(expected, change, delta=0.003, msg=name)
            self.assertTrue(low <= expected <= high, (name, low, high))
            self.assertLess(high - low, 0.007, name)
            self.assertEqual(16, count)

    def test_turns_in_which_much_is_recorded_count_as_much_as_others(self):
        def process(way, recorded):
            pieces = [[turn / 20, 1, 1.1 if turn < recorded else 1.0, 1, 0.1, turn]
                      for turn in range(10, 200)]
            return {"way": way, "copy": 0, "round": 0, "place": 0, "pieces": pieces}

        pair = turn_ratios.cores([process("default", 40), process("cupti", 0)],
                                 "first ten seconds")[0, 0]
        self.assertAlmostEqual(30 / 190 * math.log(1.1),
                               turn_ratios.change_of_core(pair["default"], pair["cupti"]))

    def test_what_has_no_common_turn_tells_nothing(self):
        for begin_s, turns in ((20.0, (1, 2)), (2.0, (1, 1))):
            runs = [made_up(way, 0, {turn: 1.0}, number, begin_s=begin_s) for number in range(2)
                    for way, turn in zip(("default", "cupti"), turns)]
            self.assertEqual([], turn_ratios.changes(runs, PART, "default", "cupti"))


class TurnsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / "turns")
        self.conductor = Conductor(self.path, 2, wait_s=20)
        self.alone = threading.Lock()

    def take(self, found):
        with Turns(self.path) as turns:
            for turn in turns:
                self.assertTrue(self.alone.acquire(blocking=False), "one at a time")
                found.append(turn)
                self.alone.release()

    def test_each_has_every_turn_and_none_has_it_beside_another(self):
        found = [[], []]
        threads = [threading.Thread(target=self.take, args=(each,)) for each in found]
        for thread in threads:
            thread.start()
        count = self.conductor.conduct(0.2)
        for thread in threads:
            thread.join()
        self.assertGreater(count, 1)
        self.assertEqual([list(range(count))] * 2, found)

    def test_the_others_go_on_where_one_ends_in_its_turn(self):
        found = []
        thread = threading.Thread(target=self.take, args=(found,))
        thread.start()
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(self.path)
            conducting = threading.Thread(target=self.conductor.conduct, args=(0.2,))
            conducting.start()
            self.assertEqual(TURN.size, len(one.recv(TURN.size)))
        conducting.join()
        thread.join()
        self.assertGreater(len(found), 1)


class WholeBenchTest(unittest.TestCase):

    def test_programs_come_to_every_server_of_their_core(self):
        ways = [{"name": "alone", "kind": "alone"}, {"name": "default", "kind": "default"}]
        seen = set()
        for number in range(3):
            programs = forked_launches.in_turns(ways, 2, number)
            self.assertEqual([0, 0, 0, 1, 1, 1], [program.place for program in programs])
            seen |= {(index, program.way["name"], program.copy)
                     for index, program in enumerate(programs)}
        self.assertEqual(6 * 3, len(seen))

    def test_ways_take_turns_on_each_core(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [sys.executable, "-B", str(HERE / "forked_launches.py"), "--output", folder,
                 "--turns", "--places", "2", "--loads", "fake", "--ways", "alone", "--rounds", "4",
                 "--seconds", "0.4"], check=True, stdout=subprocess.PIPE)
            results = json.loads((pathlib.Path(folder) / "results.json").read_text())
        runs = results["runs"]["fake"]
        self.assertEqual(16, len(runs))
        for run in runs:
            self.assertGreater(len(run["pieces"]), 0, run)
        self.assertEqual(4, results["compared"]["fake"]["first ten seconds"]["alone ÷ alone"][3])


if __name__ == "__main__":
    unittest.main()
