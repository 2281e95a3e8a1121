"""Trains four blocks of attention and MLP, modules of Flax's linen, with JAX under jit: STEPS."""

import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import flax.linen as nn
import jax
import jax.numpy as jnp

VOCABULARY, WIDTH = 8192, 1024


class Mlp(nn.Module):

    @nn.compact
    def __call__(self, x):
        hidden = nn.gelu(nn.Dense(4 * WIDTH, dtype=jnp.bfloat16, name="up")(x))
        return nn.Dense(WIDTH, dtype=jnp.bfloat16, name="down")(hidden)


class Block(nn.Module):

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        x = x + nn.SelfAttention(num_heads=8, dtype=jnp.bfloat16, name="attention")(y)
        return x + Mlp(name="mlp")(nn.LayerNorm(dtype=jnp.bfloat16)(x))


class Model(nn.Module):

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(VOCABULARY, WIDTH, dtype=jnp.bfloat16)(tokens)
        for i in range(4):
            x = Block(name=f"block_{i}")(x)
        return nn.Dense(VOCABULARY, dtype=jnp.bfloat16, name="head")(x)


def main():
    model = Model()
    tokens = jax.random.randint(jax.random.PRNGKey(0), (8, 512), 0, VOCABULARY)
    parameters = model.init(jax.random.PRNGKey(1), tokens)

    def loss_of(parameters, tokens):
        logits = model.apply(parameters, tokens).astype(jnp.float32)
        return -jnp.mean(jax.nn.log_softmax(logits)[..., 0])

    @jax.jit
    def step(parameters, tokens):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, tokens)
        return loss, jax.tree_util.tree_map(lambda p, g: p - 1e-3 * g, parameters, gradients)

    for _ in range(int(sys.argv[1])):
        loss, parameters = step(parameters, tokens)
    print(float(loss))


if __name__ == "__main__":
    main()
