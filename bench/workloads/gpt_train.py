"""Trains a GPT (12 layers, width 1024, 16 heads, 8 × 1024 tokens, bf16, fused AdamW)."""

import harness
import torch
from torch.nn import functional

from gpt import GptShape, make_gpt


class GptTraining(harness.Workload):

    def __init__(self, arguments):
        self.shape = GptShape(layers=arguments.layers)
        self.batch = arguments.batch
        model = make_gpt(self.shape)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        self.model = torch.compile(model) if arguments.compile else model
        self.tokens = torch.randint(self.shape.vocabulary, (self.batch, self.shape.context + 1),
                                    device="cuda")
        self.loss = None

    def step(self):
        logits = self.model(self.tokens[:, :-1])
        self.loss = functional.cross_entropy(logits.float().flatten(0, 1),
                                             self.tokens[:, 1:].flatten())
        self.loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def output(self):
        # The backward pass adds atomically: only the leading digits repeat.
        return {"loss": round(self.loss.item(), 1)}

    def expected(self, steps):
        tokens = self.batch * self.shape.context
        linear = 3 * self.shape.linear_flops(tokens)
        attention = 3 * self.shape.attention_flops(self.batch, self.shape.context)
        return {"linear_flops_per_step": linear, "tokens_per_step": tokens,
                "model_flops_per_step": linear + attention, "steps": steps}


def add_arguments(parser):
    parser.add_argument("--compile", action="store_true", help="through torch.compile")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--layers", type=int, default=12)


if __name__ == "__main__":
    harness.run("gpt_train", harness.parse_arguments(__doc__, add_arguments), GptTraining)
