"""A fixed piece of work for the processor, beside every measured piece: how fast the host was then.

It is work of the same kind, on the same thread: plain Python, and PyTorch's eager dispatch of tiny
operations on the processor's memory. It calls nothing of CUDA, so no tool for CUDA changes its cost.
"""

import time

PYTHON_TURNS = 30_000
EAGER_TURNS = 2_000


def python_turns(count):
    kept = {}
    for number in range(count):
        kept[number & 255] = (number, str(number))
    return kept


def make_eager_turns():
    """A function that dispatches four operations on one row of eight numbers, count times."""
    import torch
    torch.set_num_threads(1)  # of the processor's operations: other threads would hide their cost
    functional = torch.nn.functional
    row = torch.ones(1, 8)
    weight, bias = torch.full((8, 8), 0.1), torch.zeros(8)

    def turns(count):
        with torch.inference_mode():
            x = row
            for _ in range(count):
                x = functional.linear(x, weight, bias)
                x = functional.layer_norm(torch.add(x, row), (8,))
                x = torch.mul(x, 0.5)
        return x
    return turns


class Reference:

    def __init__(self, eager, scale=1.0):
        self._eager = make_eager_turns() if eager else None
        self._scale = scale

    def measure(self, part=1.0):
        """[begin, end, CPU time of this thread] in seconds, of this part of the work."""
        scale = self._scale * part
        thread, begin = time.thread_time(), time.perf_counter()
        python_turns(round(PYTHON_TURNS * scale))
        if self._eager:
            self._eager(round(EAGER_TURNS * scale))
        end = time.perf_counter()
        return [begin, end, time.thread_time() - thread]


def measure_pieces(step, steps, seconds, reference):
    """Pieces of so many steps, as [begin, end, CPU time of this thread, of the process], and what the
    reference took before the first and after each."""
    references, pieces = [reference.measure()], []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        thread, process, begin = time.thread_time(), time.process_time(), time.perf_counter()
        for _ in range(steps):
            step()
        end = time.perf_counter()
        pieces.append([begin, end, time.thread_time() - thread, time.process_time() - process])
        references.append(reference.measure())
    return {"pieces": pieces, "references": references}
