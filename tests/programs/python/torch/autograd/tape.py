"""Operations that make nodes, and the nodes' evaluation."""
import ctypes
import os
import sys

from torch.nn import functional
from torch.autograd import graph
from torch.utils import checkpoint

_LIBRARY = ctypes.CDLL(os.environ["UTLZ_TORCH_LIBRARY"])
_LIBRARY.torch_make_node.restype = ctypes.c_void_p
_LIBRARY.torch_make_accumulator.restype = ctypes.c_void_p
_LIBRARY.torch_evaluate_launch.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
_WORK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_LIBRARY.torch_evaluate.argtypes = [ctypes.c_void_p, _WORK, ctypes.c_void_p]


class _Launch(ctypes.Structure):
    _fields_ = [("set_context", ctypes.c_void_p), ("context", ctypes.c_void_p),
                ("launch", ctypes.c_void_p), ("function", ctypes.c_void_p),
                ("stream", ctypes.c_void_p), ("status", ctypes.c_int)]


def _address(function):
    return ctypes.cast(function, ctypes.c_void_p)


class Node:
    """One that an operation made, or one that accumulates a gradient."""

    def __init__(self, accumulates=False):
        made = _LIBRARY.torch_make_accumulator if accumulates else _LIBRARY.torch_make_node
        self.pointer = made()

    def evaluate_launch(self, kernel):
        """On autograd's thread, without Python."""
        gpu = functional.gpu
        one = _Launch(_address(gpu.cuda.cuCtxSetCurrent), gpu.context,
                      _address(gpu.cuda.cuLaunchKernel), gpu.functions[kernel], gpu.stream, 0)
        _LIBRARY.torch_evaluate_launch(self.pointer, ctypes.byref(one))
        gpu.check(one.status)
        gpu.launches += 1

    def evaluate(self, function):
        """On autograd's thread, as a function of Python."""
        failures = []

        def work(_):
            try:
                functional.gpu.use_on_this_thread()
                function()
            except Exception as failure:  # pylint: disable=broad-except
                failures.append(failure)

        _LIBRARY.torch_evaluate(self.pointer, _WORK(work), None)
        if failures:
            raise failures[0]


expected = []  # of each launch in its order: kernel, layer, line, pass, whether that is inferred


def expect(kernel, layer, place, launch_pass=None, inferred=False):
    expected.append([kernel, layer, place, launch_pass, inferred])


def place_of_caller():
    """The innermost line that is not in this package."""
    caller = sys._getframe(1)
    while "/torch/" in caller.f_code.co_filename:
        caller = caller.f_back
    file = os.path.basename(caller.f_code.co_filename)
    return f"{file}:{caller.f_lineno} {caller.f_code.co_qualname}"


class Tape:
    """What operations leave for the backward pass."""

    def __init__(self, launch_pass=None, makes_nodes=True):
        self.launch_pass = launch_pass
        self.makes_nodes = makes_nodes
        self.steps = []

    def operate(self, kernel, layer, has_weights=False):
        node = Node() if self.makes_nodes else None
        place = place_of_caller()
        functional.gpu.launch(kernel)
        expect(kernel, layer, place, self.launch_pass)
        if node is None:
            return

        def step():
            node.evaluate_launch("gradient")
            expect("gradient", layer, place, "backward")
            if has_weights:
                Node(accumulates=True).evaluate_launch("accumulate")
                expect("accumulate", layer, place, "backward", True)

        self.steps.append(step)

    def view(self, layer):
        """Makes a node and launches nothing; its backward pass does."""
        if not self.makes_nodes:
            return
        node = Node()

        def step():
            node.evaluate_launch("gradient")
            expect("gradient", layer, None, "backward", True)

        self.steps.append(step)

    def custom(self, kernel, layer, backward):
        """Its backward pass is a function of Python."""
        node = Node()
        place = place_of_caller()
        functional.gpu.launch(kernel)
        expect(kernel, layer, place, self.launch_pass)

        def step():
            node.evaluate(backward)
            expect("gradient", layer, place, "backward")

        self.steps.append(step)

    def checkpoint(self, module):
        node = Node()
        module(Tape(makes_nodes=False))

        def recompute():
            tape = Tape("recomputation")
            module(tape)
            return reversed(tape.steps)

        self.steps.append(lambda: node.evaluate(lambda: checkpoint.backward(recompute)))

    def backward(self):
        graph._engine_run_backward(reversed(self.steps))
