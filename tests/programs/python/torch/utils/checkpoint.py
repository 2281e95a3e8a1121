"""What does a forward pass again for the backward pass."""
from torch.autograd import graph


def backward(recompute):
    """Of a checkpoint's node: the forward pass again, and the backward pass of what it made."""
    steps = recompute()
    graph._engine_run_backward(steps)
