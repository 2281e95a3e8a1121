"""bench/diagnosis/judge.py: what counts as named, as a false alarm and as a step."""

import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench/diagnosis"))
import judge  # pylint: disable=wrong-import-position

HOST = {"rule": "host_work", "evidence": "gaps"}
SLOW = {"rule": "one_slow_kernel", "evidence": "bprop reaches 20 %", "gain_share": 0.2}
LEVELS = [{"steps": 900, "step_ns": 15e6}, {"steps": 14, "step_ns": 940e6}]


def summary(findings=(), step_ns=15e6, **capture):
    return {"findings": list(findings), "steps": {"steps": 3, "time_mean_ns": step_ns},
            "capture": capture}


class JudgeTest(unittest.TestCase):

    def test_a_cause_is_named_by_the_place_of_its_finding(self):
        accepted = {"rules": ["one_slow_kernel"]}
        self.assertEqual("first", judge.place_of([SLOW, HOST], accepted))
        self.assertEqual("second", judge.place_of([HOST, SLOW], accepted))
        self.assertEqual("missed", judge.place_of([HOST, HOST, SLOW], accepted))
        self.assertEqual("missed", judge.place_of([], accepted))

    def test_the_evidence_has_to_name_what_was_planted_where_that_is_asked(self):
        accepted = {"rules": ["one_slow_kernel"], "evidence": "fprop"}
        self.assertEqual("missed", judge.place_of([SLOW], accepted))
        accepted["evidence"] = "bprop"
        self.assertEqual("first", judge.place_of([SLOW], accepted))

    def test_a_finding_in_a_healthy_load_is_an_alarm_unless_it_says_that_it_is_below(self):
        self.assertEqual(["host_work"], judge.alarms([HOST]))
        self.assertEqual([], judge.alarms([dict(HOST, below_threshold=True)]))

    def test_steps_are_right_at_any_level_within_the_tolerance(self):
        self.assertTrue(judge.step_is_right(summary(step_ns=15.3e6), LEVELS))
        self.assertTrue(judge.step_is_right(summary(step_ns=930e6), LEVELS))
        self.assertFalse(judge.step_is_right(summary(step_ns=124e6), LEVELS))
        self.assertFalse(judge.step_is_right({}, LEVELS))

    def test_the_usual_step_is_judged_by_the_median(self):
        load = {"load": "healthy-x", "levels": LEVELS}
        uneven = summary(step_ns=18e6)
        uneven["steps"]["time_p50_ns"] = 15e6
        self.assertFalse(judge.judge_load(load, uneven, {})["step_right"])
        usual = [{"steps": 900, "step_ns": 15e6, "usual": True}]
        self.assertTrue(judge.judge_load(dict(load, levels=usual), uneven, {})["step_right"])

    def test_a_program_without_steps_is_right_where_none_are_found(self):
        load = {"load": "healthy-x", "levels": []}
        self.assertFalse(judge.judge_load(load, summary(), {})["step_right"])
        self.assertTrue(judge.judge_load(load, {"findings": []}, {})["step_right"])

    def test_the_busy_share_is_judged_where_it_is_known(self):
        load = {"load": "healthy-x", "levels": LEVELS, "busy_share": 0.9}
        near = dict(summary(), devices=[{"steady_state_ns": 1, "gpu_busy_share": 0.915}])
        far = dict(summary(), devices=[{"steady_state_ns": 1, "gpu_busy_share": 0.87}])
        self.assertTrue(judge.judge_load(load, near, {})["busy_right"])
        self.assertFalse(judge.judge_load(load, far, {})["busy_right"])
        self.assertFalse(judge.judge_load(load, summary(), {})["busy_right"])
        del load["busy_share"]
        self.assertIsNone(judge.judge_load(load, far, {})["busy_right"])

    def test_damage_is_seen(self):
        load = {"load": "healthy-x", "levels": LEVELS}
        self.assertFalse(judge.judge_load(load, summary(), {})["damaged"])
        self.assertTrue(judge.judge_load(load, summary(frames_refused=1), {})["damaged"])
        self.assertTrue(judge.judge_load(load, summary(bytes_unreadable=1), {})["damaged"])

    def test_what_is_known_of_a_profile_is_checked(self):
        known = {"file": "x", "levels": LEVELS, "step_tolerance": 0.03, "busy_share": [0.1, 0.2],
                 "hbm_share": [0.4, 0.5], "first": ["host_work"], "headline": "sampl"}
        right = summary([HOST])
        right["devices"] = [{"steady_state_ns": 3, "gpu_busy_share": 0.1, "hbm_bandwidth_share": 0.45},
                            {"steady_state_ns": 1, "gpu_busy_share": 0.3, "hbm_bandwidth_share": 0.45}]
        self.assertEqual({True}, set(judge.judge_known(known, right, "hardly sampled")
                                     ["checks"].values()))
        wrong = judge.judge_known(known, summary([SLOW, HOST], 1e6), "fine\n" * 20 + "sampled")
        self.assertEqual({"step", "busy", "hbm", "first", "headline"}, set(wrong["checks"]))
        self.assertEqual({False}, set(wrong["checks"].values()))

    def test_the_table_has_a_row_a_load_and_the_totals_count(self):
        loads = [{"load": "healthy-x", "levels": LEVELS},
                 {"load": "host_work-1", "cause": "host_work", "strength": 1, "threshold": 0.1,
                  "of": "of the steps' time", "levels": LEVELS}]
        rules = {"host_work": {"rules": ["host_work"]}}
        results = [judge.judge_load(load, summary([HOST]), rules) for load in loads]
        self.assertEqual(4, len(judge.table(results).splitlines()))
        self.assertIn("FALSE ALARM", judge.table(results))
        self.assertIn("| 1 × | 1 | 0 | 0 |", judge.totals(results))
        self.assertIn("False alarms in 1 of 1", judge.totals(results))

    def test_every_cause_that_is_planted_has_rules(self):
        rules = json.loads((ROOT / "bench/diagnosis/rules.json").read_text())
        source = (ROOT / "bench/diagnosis/causes.cc").read_text()
        planted = re.findall(r'^\s+\{"(\w+)",\s+"\w+",\s+[\d.e]+,', source, re.MULTILINE)
        self.assertGreater(len(planted), 20)
        self.assertEqual(set(planted), set(rules))


if __name__ == "__main__":
    unittest.main()
