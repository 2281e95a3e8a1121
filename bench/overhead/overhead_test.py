"""The overhead bench: its arithmetic, its pairing, and the layout that it shares with the ring."""

import mmap
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import threading
import time
import unittest

import agent_control
import slowdown
import windows

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

OFFSETS = """
#include <cstddef>
#include <cstdio>
#include "proto/ring_abi.h"
using utlz::RingHeader;
int main() {
  std::printf("%zu %zu %zu %zu %zu %llu\\n",
              offsetof(RingHeader, producer) + offsetof(utlz::RingProducer, state),
              offsetof(RingHeader, producer) + offsetof(utlz::RingProducer, acknowledged_request),
              offsetof(RingHeader, control) + offsetof(utlz::RingControl, request),
              offsetof(RingHeader, control) + offsetof(utlz::RingControl, requested_state),
              offsetof(RingHeader, control) + offsetof(utlz::RingControl, overhead_budget_ppm),
              static_cast<unsigned long long>(utlz::kRingMagic));
}
"""


class SlowdownTest(unittest.TestCase):

    def test_interval_holds_the_truth_and_shrinks_with_pairs(self):
        generator = random.Random(7)
        values = [0.05 + generator.gauss(0, 0.01) for _ in range(400)]
        median, low, high = slowdown.median_and_interval(values, rounds=2000)
        self.assertTrue(low < 0.05 < high)
        self.assertTrue(low < median < high)
        _, few_low, few_high = slowdown.median_and_interval(values[:10], rounds=2000)
        self.assertLess(high - low, few_high - few_low)

    def test_a_pair_is_compared_with_itself_alone(self):
        self.assertEqual([0.5, 0.5], slowdown.slowdowns([[2.0, 3.0], [20.0, 30.0]]))


class RecordingTool:

    def __init__(self):
        self.on = False

    def start(self):
        assert not self.on
        self.on = True

    def stop(self):
        assert self.on
        self.on = False


class WindowsTest(unittest.TestCase):

    def test_windows_alternate_in_order_and_the_tool_is_off_after_each(self):
        tool = RecordingTool()
        seen = []
        pairs = windows.measure_pairs(tool, lambda: seen.append(tool.on), 2, 3,
                                      time.monotonic() + 60)
        self.assertEqual(3, len(pairs))
        # A step to settle and two timed ones, in each window.
        self.assertEqual([False] * 3 + [True] * 6 + [False] * 6 + [True] * 3, seen)
        self.assertFalse(tool.on)

    def test_no_pair_begins_after_the_deadline(self):
        self.assertEqual([], windows.measure_pairs(RecordingTool(), lambda: None, 1, 3,
                                                   time.monotonic() - 1))


class AgentControlTest(unittest.TestCase):

    def test_offsets_are_those_of_the_ring(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "offsets.cc")
            program = os.path.join(folder, "offsets")
            pathlib.Path(source).write_text(OFFSETS)
            subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-Wno-invalid-offsetof",
                            f"-I{ROOT}", "-o", program, source], check=True)
            printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        self.assertEqual([agent_control.STATE, agent_control.ACKNOWLEDGED_REQUEST,
                          agent_control.REQUEST, agent_control.REQUESTED_STATE,
                          agent_control.OVERHEAD_BUDGET_PPM, agent_control.RING_MAGIC],
                         [int(part) for part in printed.split()])

    def test_finds_the_ring_in_its_own_process_and_waits_for_the_agent(self):
        descriptor = os.memfd_create("some-ring")
        os.ftruncate(descriptor, 8192)
        ring = mmap.mmap(descriptor, 8192)
        ring[0:8] = struct.pack("<Q", agent_control.RING_MAGIC)

        def agent():
            while struct.unpack_from("<Q", ring, agent_control.REQUEST)[0] == 0:
                time.sleep(0.001)
            state, = struct.unpack_from("<I", ring, agent_control.REQUESTED_STATE)
            struct.pack_into("<I", ring, agent_control.STATE, state)
            struct.pack_into("<Q", ring, agent_control.ACKNOWLEDGED_REQUEST, 1)
        thread = threading.Thread(target=agent)
        thread.start()
        control = agent_control.AgentControl()
        self.assertEqual(agent_control.TRACING, control.request(agent_control.TRACING, 10000))
        thread.join()
        self.assertEqual(10000, struct.unpack_from("<I", ring,
                                                   agent_control.OVERHEAD_BUDGET_PPM)[0])
        control.timeout_s = 0.01
        with self.assertRaises(TimeoutError):
            control.request(agent_control.INACTIVE, 0)


if __name__ == "__main__":
    unittest.main()
