"""Compares walks over the frames of real calls with what the interpreter says of them.

    walk_test.py LIBRARY [unittest's arguments]

Runs in each interpreter that is supported. LIBRARY is frames_probe.cc's.
"""
import asyncio
import contextlib
import ctypes
import functools
import gc
import os
import subprocess
import sys
import threading
import unittest

from frames_probe import INSTRUCTIONS, LIBRARY, MOST_FRAMES, Stack, own_frames, probe, walk

NO_THREAD_STATE, SUB_INTERPRETER, ENDING, NO_FRAMES = 7, 8, 9, 10
NEW_STACKS = 1024

failures, compared, total = [], 0, 0
compare_lock = threading.Lock()


def compare(read_code=True):
    """Walks here and now, and notes where a frame differs from the interpreter's own."""
    global compared, total
    stack, why = Stack(), ctypes.c_int()
    with compare_lock:  # the new stacks have one reader
        first = sys._getframe().f_lineno + 1
        probe.frames_probe_walk_new(ctypes.byref(stack), ctypes.byref(why))
        expected = own_frames(sys._getframe())
        if why.value != 0:
            failures.append("no stack: %d" % why.value)
        got = []
        for frame in stack.frames[:stack.frame_count]:
            offset = frame.instruction - frame.code - INSTRUCTIONS
            if not read_code:
                got.append((frame.code, offset))
                continue
            if not probe.frames_probe_read_code(frame.code):
                failures.append("a code object that cannot be read")
                return
            got.append((frame.code, offset,
                        probe.frames_probe_line(frame.code, frame.instruction),
                        probe.frames_probe_file().decode(), probe.frames_probe_name().decode()))
        # The innermost frame has gone on since.
        wanted = [row if read_code else row[:2] for row in expected[:MOST_FRAMES]]
        if got and got[0][0] == wanted[0][0] and (not read_code or got[0][2] == first):
            got[0] = wanted[0]
        if got != wanted or stack.is_cut != (len(expected) > MOST_FRAMES):
            failures.append("\n%r\nis not\n%r, cut %r" % (got, wanted, stack.is_cut))
        compared += 1
        total += len(got)


class Walks(unittest.TestCase):

    def setUp(self):
        global compared
        failures.clear()
        compared = 0

    def check(self, at_least=1):
        self.assertEqual(failures[:1], [])
        self.assertGreaterEqual(compared, at_least)

    def test_calls(self):
        class Owner:
            def __init__(self):
                compare()

            @property
            def value(self):
                compare()
                return 1

            @classmethod
            def made(cls):
                compare()
                return cls()

            def __lt__(self, other):
                compare()
                return False

        Owner.made().value
        sorted([Owner(), Owner(), Owner()])
        list(map(lambda one: compare(), range(3)))
        functools.partial(compare)()
        [compare() for _ in range(2)]
        exec(compile("def called():\n    compare()\n\n\ncalled()", "<made>", "exec"),
             {"compare": compare})

        class Body:
            compare()

        @contextlib.contextmanager
        def around():
            compare()
            yield
            compare()

        with around():
            compare()
        (lambda one, *rest, key=0, **others: compare())(1, 2, key=3, four=4)
        self.check(15)

    def test_names_that_are_not_ascii(self):
        for name in ("größe", "долго", "長い", "\U0001d4d0"):
            exec(compile("def %s():\n  compare()\n%s()" % (name, name), "/%s.py" % name, "exec"),
                 {"compare": compare})
        self.check(4)

    def test_lines_far_apart(self):
        text = "def called():\n    one(\n" + "\n" * 5000 + "        two())\n" + "\n" * 300
        text += "    for _ in range(2):\n        two()\ncalled()"
        exec(compile(text, "<far>", "exec"), {"one": lambda got: compare(), "two": compare})
        self.check(4)

    def test_generators(self):
        def inner(count):
            for at in range(count):
                compare()
                yield at
                compare()

        def outer(count):
            compare()
            yield from inner(count)
            yield from (one for one in inner(2))

        def thrown():
            try:
                yield 1
            except ValueError:
                compare()
            finally:
                compare()

        self.assertEqual(list(outer(3)), [0, 1, 2, 0, 1])
        one = thrown()
        next(one)
        with self.assertRaises(StopIteration):
            one.throw(ValueError())
        two = thrown()
        next(two)
        two.close()
        self.check(13)

    def test_coroutines(self):
        async def leaf(depth):
            compare()
            if depth:
                await leaf(depth - 1)
            await asyncio.sleep(0)
            compare()

        async def stream():
            for at in range(3):
                compare()
                await asyncio.sleep(0)
                yield at

        async def main():
            await asyncio.gather(leaf(3), leaf(5))
            async for _ in stream():
                compare()

        asyncio.run(main())
        self.check(26)

    def test_exceptions(self):
        class Left:
            def __enter__(self):
                return self

            def __exit__(self, *exception):
                compare()
                return True

        def raises(depth):
            if depth == 0:
                raise KeyError
            try:
                raises(depth - 1)
            except KeyError as error:
                compare()
                raise KeyError from error
            finally:
                compare()

        with Left():
            raises(20)
        try:
            raise ExceptionGroup("group", [ValueError(1)])
        except* ValueError:
            compare()
        self.check(42)

    def test_deep_recursion(self):
        def deeper(depth):
            compare(read_code=False)
            if depth:
                deeper(depth - 1)

        def through_c(depth):
            compare(read_code=False)
            if depth:
                sorted([1], key=lambda one: through_c(depth - 1) or 0)

        deeper(200)
        through_c(100)
        self.check(302)

    def test_finalizers(self):
        class Dying:
            def __del__(self):
                compare()

        def dies():
            one = Dying()
            one.itself = one

        Dying()
        dies()
        gc.collect()
        self.check(2)

    def test_beside_threads_that_churn(self):
        stop = threading.Event()

        def churn():
            def deep(depth):
                return [depth, deep(depth - 1)] if depth else [object()]

            def some():
                yield from range(5)

            while not stop.is_set():
                deep(40)
                list(some())
                made = {}
                exec("def one(): return [x for x in range(3)]", made)
                made["one"]()
                gc.collect(0)

        def walks():
            def deeper(depth):
                compare(read_code=depth % 5 == 0)
                if depth:
                    deeper(depth - 1)

            for _ in range(40):
                deeper(25)

        threads = [threading.Thread(target=churn) for _ in range(2)]
        walkers = [threading.Thread(target=walks) for _ in range(4)]
        # Each walk gives the interpreter's lock away, and would wait 5 ms for it.
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(20e-6)
        for thread in threads + walkers:
            thread.start()
        for thread in walkers:
            thread.join()
        stop.set()
        for thread in threads:
            thread.join()
        self.check(4 * 40 * 26)

    def test_threads_walk_at_the_same_time(self):
        """Each thread's walk of one place has one hash, whatever the others do."""
        odd = []

        def deeper(depth):
            return deeper(depth - 1) if depth else {walk() for _ in range(500)}

        def walks():
            for depth in range(40):
                found = deeper(depth)
                if len(found) != 1 or min(found)[1] != 0:
                    odd.append(found)

        threads = [threading.Thread(target=walks) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(odd, [])

    def test_modules(self):
        class Module:
            def _wrapped_call_impl(self, *args):
                return self._call_impl(*args)

            def _call_impl(self, *args):
                def inner():
                    return self  # makes a cell of it

                return self.forward(*args) if inner() else None

            def forward(self, child=None):
                return child._wrapped_call_impl() if child else modules()

        def modules():
            stack, why = Stack(), ctypes.c_int()
            value = probe.frames_probe_walk_new(ctypes.byref(stack), ctypes.byref(why))
            return value, [frame.module for frame in stack.frames[:stack.frame_count]
                           if frame.module]

        parent, first, second = Module(), Module(), Module()
        call = parent._wrapped_call_impl
        results = [call(child) for child in (first, first, second)]
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0][0], results[2][0])  # no module is known yet
        self.assertEqual(results[0][1], [])
        for function in (Module._wrapped_call_impl, Module._call_impl):
            self.assertEqual(probe.frames_probe_module_code(id(function.__code__)), 1)
        results = [call(child) for child in (first, first, second)]
        self.assertEqual(results[0], results[1])
        self.assertNotEqual(results[0][0], results[2][0])
        for (_, found), child in zip(results, (first, first, second)):
            self.assertEqual(found, [id(child), id(child), id(parent), id(parent)])

    def test_a_stack_is_new_once(self):
        stack = Stack()

        def taken():
            count = 0
            while probe.frames_probe_take(ctypes.byref(stack)):
                count += 1
            return count

        def here():
            return walk()

        probe.frames_probe_forget()
        taken()
        first = [here() for _ in range(3)]
        self.assertEqual(len(set(first)), 1)
        self.assertEqual(taken(), 1)
        self.assertEqual(stack.hash, first[0][0])
        self.assertNotEqual(here(), first[0])  # another line
        self.assertEqual(taken(), 1)

    def test_more_stacks_than_there_is_room_for(self):
        stack = Stack()
        count = NEW_STACKS + 200
        made = {"walk": walk}
        exec("def many():\n" + "    walk()\n" * count, made)

        def taken():
            found = set()
            while probe.frames_probe_take(ctypes.byref(stack)):
                found.add(stack.hash)
            return found

        probe.frames_probe_forget()
        taken()
        probe.frames_probe_lost()
        found, lost = [], []
        for _ in range(3):
            made["many"]()
            found.append(taken())
            lost.append(probe.frames_probe_lost())
        self.assertEqual(lost, [200, 0, 0])
        # What was lost is new again, and only that.
        self.assertEqual([len(one) for one in found], [NEW_STACKS, 200, 0])
        self.assertEqual(len(found[0] | found[1]), count)

    def test_threads_without_frames(self):
        self.assertEqual(probe.frames_probe_walk_in_thread(0), NO_THREAD_STATE)
        self.assertEqual(probe.frames_probe_walk_in_thread(1), NO_FRAMES)

    def test_sub_interpreters(self):
        try:
            if sys.version_info >= (3, 13):
                import _interpreters as interpreters
                made = interpreters.create("legacy")
            else:
                import _xxsubinterpreters as interpreters
                made = interpreters.create(isolated=False)
        except ImportError as error:
            self.skipTest(str(error))
        read, write = os.pipe()
        try:
            self.assertEqual(walk(), (0, SUB_INTERPRETER))
            interpreters.run_string(made, (
                "import ctypes, os\n"
                "library, why = ctypes.CDLL(%r), ctypes.c_int()\n"
                "library.frames_probe_walk(ctypes.byref(why))\n"
                "os.write(%d, b'%%d' %% why.value)\n") % (LIBRARY, write))
            self.assertEqual(os.read(read, 9), b"%d" % SUB_INTERPRETER)
        finally:
            interpreters.destroy(made)
        self.assertNotEqual(walk()[0], 0)

    def test_the_interpreters_end(self):
        """A finalizer that runs when the interpreter is being taken down."""
        # A loader that runs the interpreter is not what sys.executable names.
        python = os.environ.get("UTLZ_TEST_PYTHON", sys.executable)
        done = subprocess.run([python, __file__, LIBRARY, "--at-the-end"],
                              stdout=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b"%d\n" % ENDING))


class AtTheEnd:
    def __init__(self):
        self.why, self.write = ctypes.c_int(), os.write
        self.call = probe.frames_probe_walk

    def __del__(self):
        self.call(ctypes.byref(self.why))
        self.write(1, b"%d\n" % self.why.value)


if __name__ == "__main__":
    if sys.argv[1:] == ["--at-the-end"]:
        sys.modules["at_the_end"] = AtTheEnd()
        sys.exit(0)
    unittest.main(verbosity=1)
