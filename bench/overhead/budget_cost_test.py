"""The bench of the default budget: its arithmetic on made-up steps, its reading of a profile."""

import pathlib
import random
import struct
import tempfile
import unittest

import budget_cost
import profile_frames


def made_up(step_s, traced_s, inactive_s, seconds=20, turns=8):
    """Steps of known cost: a window of 50 ms each second, then turns of a second."""
    noise = random.Random(7)
    windows = [(n + 0.5, n + 0.55) for n in range(seconds)]
    inactive = [(seconds + 2.0 * n, seconds + 2.0 * n + 1) for n in range(turns)]
    times, now = [], 0.0
    while now < seconds + 2 * turns:
        inside = any(begin < now + step_s and now < end for begin, end in windows)
        sleeping = any(begin <= now < end for begin, end in inactive)
        drift = 1 + 0.1 * now / seconds
        length = (traced_s if inside else inactive_s if sleeping else step_s) * drift
        times += [now, now + length * noise.uniform(0.99, 1.01)]
        now = times[-1]
    return budget_cost.Steps(times, [(b * 1e9, e * 1e9) for b, e in windows], inactive)


class FiguresTest(unittest.TestCase):

    def test_costs_are_found_under_a_drift(self):
        found = budget_cost.figures_of(made_up(0.002, 0.0022, 0.00198), 20)
        self.assertAlmostEqual(found["traced_share"], 0.053, delta=0.004)
        self.assertAlmostEqual(found["tracing"][0], 0.1 * 0.05, delta=0.0006)
        self.assertAlmostEqual(found["active"][0], 0.0101, delta=0.001)
        self.assertLess(found["together"][1], 0.015)
        self.assertGreater(found["together"][2], 0.015)

    def test_nothing_is_found_where_nothing_is(self):
        found = budget_cost.figures_of(made_up(0.002, 0.002, 0.002), 20)
        for name in ("tracing", "active", "together"):
            value, low, high = found[name]
            self.assertLess(abs(value), 0.001, name)
            self.assertLessEqual(low, value)
            self.assertLessEqual(value, high)

    def test_too_little_is_said(self):
        with self.assertRaisesRegex(ValueError, "too few"):
            budget_cost.figures_of(made_up(0.002, 0.002, 0.002, turns=1), 20)


class TraceWindowsTest(unittest.TestCase):

    def test_windows_are_read_and_open_ones_left_out(self):
        def frame(kind, payload):
            head = profile_frames.FRAME_HEADER.pack(len(payload), kind, 0, 1, 0)
            return head + payload + bytes(-len(payload) % 8)

        def window(begin, end):
            return struct.pack("<BQ", 9, begin) + (struct.pack("<BQ", 17, end) if end else b"")

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "made.utlz")
            path.write_bytes(bytes(16) + frame(13, window(300, 400) + b"\x18\x03") +
                             frame(8, b"abc") + frame(13, window(100, 0)) +
                             frame(13, window(100, 200)) + b"cut")
            self.assertEqual(profile_frames.trace_windows(path), [(100, 200), (300, 400)])


if __name__ == "__main__":
    unittest.main()
