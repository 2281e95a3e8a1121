"""Compares samples of another thread's frames with what the interpreter says of them.

    sample_test.py LIBRARY [unittest's arguments]

Runs in each interpreter that is supported. LIBRARY is frames_probe.cc's.
"""
import ctypes
import sys
import threading
import time
import unittest

from frames_probe import INSTRUCTIONS, Stack, own_frames, probe, walk


def sample_of(function, attempts=1):
    """The frames of a launching thread that is in this function; None where no sample shows one."""
    stack = Stack()
    code = ctypes.c_uint64(id(function.__code__))
    if not probe.frames_probe_sample(code, attempts, ctypes.byref(stack)):
        return None
    return [(frame.code, frame.instruction - frame.code - INSTRUCTIONS)
            for frame in stack.frames[:stack.frame_count]]


class Samples(unittest.TestCase):
    """What another thread is in, while it launches nothing."""

    def test_of_a_thread_that_waits(self):
        waits, ends = threading.Event(), threading.Event()

        def inner():
            waits.set()
            ends.wait()

        def launches():
            walk()
            for _ in [1]:
                inner()

        thread = threading.Thread(target=launches)
        thread.start()
        try:
            waits.wait()
            expected, got = None, []
            # Until the thread has come to where it stays.
            while got != expected:
                expected = [row[:2] for row in own_frames(sys._current_frames()[thread.ident])]
                got = sample_of(launches)
            self.assertIn(id(inner.__code__), [code for code, _ in expected])
        finally:
            ends.set()
            thread.join()
        self.assertIsNone(sample_of(launches))  # it has ended

    def test_of_a_thread_that_runs(self):
        begun, ends = [], []

        def down(depth):
            return depth and down(depth - 1)

        def launches():
            walk()
            begun.append(True)  # by no function of Python's: a sample would show it
            while not ends:
                for depth in range(30):
                    down(depth)

        thread = threading.Thread(target=launches)
        thread.start()
        try:
            while not begun:
                time.sleep(0)
            shapes = set()
            while len(shapes) < 5:
                codes = [code for code, _ in sample_of(launches, attempts=100) or ()]
                if not codes:
                    continue  # it went on in each
                depth = codes.index(id(launches.__code__))
                self.assertEqual(codes[:depth], [id(down.__code__)] * depth)
                shapes.add(depth)
        finally:
            ends.append(True)
            thread.join()


if __name__ == "__main__":
    unittest.main(verbosity=1)
