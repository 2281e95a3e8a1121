"""What begins a backward pass."""


def _engine_run_backward(steps):
    for step in steps:
        step()
