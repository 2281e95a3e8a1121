"""Stands in for PyTorch, as far as the agent looks at it."""
from . import nn, optim
