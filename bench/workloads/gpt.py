"""A plain GPT of `layers` blocks, in bfloat16, as many write it: no fused or custom operations."""

import dataclasses

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass(frozen=True)
class GptShape:
    layers: int = 12
    width: int = 1024
    heads: int = 16
    context: int = 1024
    vocabulary: int = 50304

    def matmul_parameters(self):
        """Weights that every token is multiplied with: the blocks' four matrices and the head."""
        return self.layers * 12 * self.width**2 + self.vocabulary * self.width

    def linear_flops(self, tokens):
        """Of one forward pass through the linear layers: 2·M·N·K each."""
        return 2 * tokens * self.matmul_parameters()

    def attention_flops(self, sequences, length):
        """Of one forward pass, the full square (a causal kernel does about half of it)."""
        return 4 * self.layers * sequences * length**2 * self.width


class Block(nn.Module):

    def __init__(self, shape):
        super().__init__()
        self.heads = shape.heads
        self.attention_norm = nn.LayerNorm(shape.width)
        self.query_key_value = nn.Linear(shape.width, 3 * shape.width)
        self.projection = nn.Linear(shape.width, shape.width)
        self.feed_norm = nn.LayerNorm(shape.width)
        self.feed_up = nn.Linear(shape.width, 4 * shape.width)
        self.feed_down = nn.Linear(4 * shape.width, shape.width)

    def forward(self, x):
        batch, length, width = x.shape
        split = self.query_key_value(self.attention_norm(x)).chunk(3, dim=-1)
        query, key, value = (part.view(batch, length, self.heads, width // self.heads)
                             .transpose(1, 2) for part in split)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed_down(functional.gelu(self.feed_up(self.feed_norm(x))))


class Gpt(nn.Module):

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.token = nn.Embedding(shape.vocabulary, shape.width)
        self.position = nn.Embedding(shape.context, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)

    def forward(self, tokens):
        position = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.token(tokens) + self.position(position)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def make_gpt(shape=GptShape(), device="cuda"):
    with torch.device(device):
        return Gpt(shape).to(torch.bfloat16)
