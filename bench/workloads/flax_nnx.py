"""Trains four blocks of two linear layers, modules of Flax's NNX, with JAX under jit: STEPS."""

import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
from flax import nnx

WIDTH = 1024


class Block(nnx.Module):

    def __init__(self, rngs):
        self.up = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs)
        self.down = nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x):
        return x + self.down(nnx.gelu(self.up(x)))


class Model(nnx.Module):

    def __init__(self, rngs):
        self.blocks = nnx.List([Block(rngs) for _ in range(4)])
        self.head = nnx.Linear(WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@nnx.jit
def step(model, x):

    def loss_of(model):
        return jnp.mean(model(x) ** 2)

    loss, gradients = nnx.value_and_grad(loss_of)(model)
    parameters = nnx.state(model, nnx.Param)
    nnx.update(model, jax.tree_util.tree_map(lambda p, g: p - 1e-3 * g, parameters, gradients))
    return loss


def main():
    model = Model(nnx.Rngs(0))
    x = jax.random.normal(jax.random.PRNGKey(0), (4096, WIDTH))
    for _ in range(int(sys.argv[1])):
        loss = step(model, x)
    print(float(loss))


if __name__ == "__main__":
    main()
