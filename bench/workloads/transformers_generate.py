"""Generates text with Hugging Face transformers: a small Llama of random weights, no download."""

import harness
import torch
from transformers import LlamaConfig, LlamaForCausalLM


class Generation(harness.Workload):
    """One step: `batch` prompts, `new_tokens` generated for each, greedily."""

    def __init__(self, arguments):
        self.new_tokens = arguments.new_tokens
        config = LlamaConfig(vocab_size=32000, hidden_size=1024, intermediate_size=2816,
                             num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=4,
                             max_position_embeddings=2048, bos_token_id=1, eos_token_id=None,
                             pad_token_id=0)
        self.model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
        self.prompt = torch.randint(3, 32000, (arguments.batch, arguments.prompt_tokens),
                                    device="cuda")
        self.mask = torch.ones_like(self.prompt)
        self.generated = None

    def step(self):
        self.generated = self.model.generate(
            self.prompt, attention_mask=self.mask, do_sample=False,
            max_new_tokens=self.new_tokens, min_new_tokens=self.new_tokens)

    def output(self):
        return {"tokens": int(self.generated.numel()), "sum": int(self.generated.sum().item())}

    def expected(self, steps):
        return {"forward_passes": steps * self.new_tokens}


def add_arguments(parser):
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--prompt-tokens", type=int, default=128)
    parser.add_argument("--new-tokens", type=int, default=32)


if __name__ == "__main__":
    harness.run("transformers_generate",
                harness.parse_arguments(__doc__, add_arguments, steps=5, warmup=1), Generation)
