"""The loads of price.py: runs one for some seconds and writes when each piece of it began and ended.

    price_loads.py LOAD --seconds 8 --result FILE

A piece is some steps, a quarter of a second or less. Every piece is written as [begin, end, CPU time
of the launching thread, CPU time of the process] in seconds, and so is the reference beside it
(price_reference.py). Needs torch, and transformers, torchvision or jax for the loads that are made
of them; `fake` needs nothing.
"""

import argparse
import gc
import json
import os
import pathlib
import sys
import time

from presence_library import end_recording
from price_reference import Reference, measure_pieces

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "workloads"))


NEW_TOKENS = 16


def fake():
    """A step that computes for about 2 ms and then sleeps for 1."""
    def step():
        sum(range(100_000))
        time.sleep(0.001)
    return step


def make_llama(torch, device, **changes):
    """A Llama of 1.1 billion parameters, all random, or of the shape that the changes make of it."""
    from transformers import LlamaConfig, LlamaForCausalLM
    shape = {"vocab_size": 32000, "hidden_size": 2048, "intermediate_size": 5632,
             "num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4, **changes}
    config = LlamaConfig(max_position_embeddings=2048, bos_token_id=1, eos_token_id=None,
                         pad_token_id=0, **shape)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = LlamaForCausalLM(config).eval()
    torch.set_default_dtype(torch.float32)
    return model


def generate():
    """generate() of NEW_TOKENS tokens: host-bound, about 950 launches a token."""
    import torch
    model = make_llama(torch, "cuda")
    prompt = torch.randint(3, 32000, (1, 64), device="cuda")
    mask = torch.ones_like(prompt)

    def step():
        model.generate(prompt, attention_mask=mask, do_sample=False, max_new_tokens=NEW_TOKENS,
                       min_new_tokens=NEW_TOKENS)
        torch.cuda.synchronize()
    return step


def launches():
    """2,000 launches of a kernel that ends before the next: what one costs the thread, and no more."""
    import torch
    small = torch.zeros(1, device="cuda")

    def step():
        for _ in range(2000):
            small.add_(1)
    return step


def _stream(waited):
    import torch
    # 1.3 GB read and as much written: about a millisecond on an H100.
    source = torch.zeros(325_000_000, device="cuda")
    target = torch.empty_like(source)

    def step():
        for _ in range(10):
            torch.add(source, 1.0, out=target)
            if waited:
                torch.cuda.synchronize()
        torch.cuda.synchronize()
    return step


def _gpt(mode):
    import torch
    from gpt_decode import GptDecode
    decoding = GptDecode(argparse.Namespace(layers=12, batch=16, mode=mode))

    def step():
        decoding.step()
        torch.cuda.synchronize()
    return step


def _resnet_step(model, batch_of):
    import torch
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = torch.nn.CrossEntropyLoss()

    def step():
        images, labels = batch_of()
        with torch.autocast("cuda", torch.bfloat16):
            loss = loss_of(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
    return step


def _resnet_model(name):
    import torch
    import torchvision
    model = getattr(torchvision.models, name)(weights=None)
    return model.to("cuda", memory_format=torch.channels_last)


def resnet():
    import torch
    images = torch.randn(128, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(1000, (128,), device="cuda")
    return _resnet_step(_resnet_model("resnet50"), lambda: (images, labels))


class Pictures:
    """Random pictures, each a millisecond or two of work for a worker."""

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        import torch
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 224, 224, generator=generator), index % 1000


def dataloader():
    import torch
    batches = iter(torch.utils.data.DataLoader(Pictures(), batch_size=64, num_workers=6,
                                               pin_memory=True))

    def batch():
        images, labels = next(batches)
        images = images.to("cuda", non_blocking=True, memory_format=torch.channels_last)
        return images, labels.to("cuda", non_blocking=True)
    return _resnet_step(_resnet_model("resnet18"), batch)


def jax():
    """Trains a transformer of six blocks with one jit step."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax as framework
    import jax.numpy as jnp
    blocks, width, heads, batch, length = 6, 1024, 16, 16, 512
    keys = iter(framework.random.split(framework.random.PRNGKey(1), 4 * blocks + 1))

    def weight(*shape):
        return 0.02 * framework.random.normal(next(keys), shape, jnp.bfloat16)

    parameters = [{"qkv": weight(width, 3 * width), "out": weight(width, width),
                   "up": weight(width, 4 * width), "down": weight(4 * width, width)}
                  for _ in range(blocks)]
    inputs = framework.random.normal(next(keys), (batch, length, width), jnp.bfloat16)

    def normal(x):
        x = x.astype(jnp.float32)
        x = (x - x.mean(-1, keepdims=True)) * framework.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
        return x.astype(jnp.bfloat16)

    def loss_of(parameters, x):
        for block in parameters:
            query, key, value = (part.reshape(batch, length, heads, -1) for part in
                                 jnp.split(normal(x) @ block["qkv"], 3, axis=-1))
            mixed = framework.nn.dot_product_attention(query, key, value)
            x = x + mixed.reshape(batch, length, width) @ block["out"]
            x = x + framework.nn.gelu(normal(x) @ block["up"]) @ block["down"]
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    @framework.jit
    def train(parameters, moments, x):
        loss, gradients = framework.value_and_grad(loss_of)(parameters, x)
        moments = framework.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments, gradients)
        return loss, framework.tree.map(lambda p, m: p - 1e-3 * m, parameters, moments), moments

    state = [parameters, framework.tree.map(jnp.zeros_like, parameters)]

    def step():
        loss, *state[:] = train(*state, inputs)
        loss.block_until_ready()
    return step


LOADS = {"fake": fake, "launches": launches, "generate": generate, "stream": lambda: _stream(False),
         "stream-waited": lambda: _stream(True), "eager": lambda: _gpt("eager"),
         "graph": lambda: _gpt("graph"), "jax": jax, "resnet": resnet, "dataloader": dataloader}
# Steps of a piece, which lasts a quarter of a second at most.
STEPS_OF_PIECE = {"fake": 10, "launches": 8, "eager": 50, "graph": 50, "jax": 5}
STEPS_OF_PIECE_ELSE = 1
# Steps before the first one that counts.
WARMUP = {"generate": 3, "jax": 3, "resnet": 5, "dataloader": 5}
WARMUP_ELSE = 20


def run(arguments):
    begun = time.perf_counter()
    step = LOADS[arguments.load]()
    for _ in range(WARMUP.get(arguments.load, WARMUP_ELSE)):
        step()
    presence = end_recording()
    reference = Reference(arguments.load != "fake", arguments.reference_scale)
    reference.measure()
    gc.collect()
    gc.freeze()
    measured = measure_pieces(step, STEPS_OF_PIECE.get(arguments.load, STEPS_OF_PIECE_ELSE),
                              arguments.seconds, reference)
    return {"load": arguments.load, **measured, "presence": presence, "pid": os.getpid(),
            "begun": begun, "now": [time.time(), time.perf_counter()]}


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("load", choices=LOADS)
    parser.add_argument("--seconds", type=float, default=8, help="of pieces after the warm-up")
    parser.add_argument("--reference-scale", type=float, default=1, help="of the work beside them")
    parser.add_argument("--result", required=True, type=pathlib.Path)
    arguments = parser.parse_args(words)
    arguments.result.write_text(json.dumps(run(arguments)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
