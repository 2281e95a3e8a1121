"""Forward passes of 16 tokens through the GPT: eager (host-bound) or as one CUDA graph."""

import harness
import torch

from gpt import GptShape, make_gpt


class GptDecode(harness.Workload):

    def __init__(self, arguments):
        self.shape = GptShape(layers=arguments.layers)
        self.batch = arguments.batch
        self.model = make_gpt(self.shape).eval()
        self.tokens = torch.randint(self.shape.vocabulary, (self.batch, 1), device="cuda")
        self.logits = None
        self.graph = None
        if arguments.mode == "graph":
            self.graph = self._capture()

    def _forward(self):
        with torch.inference_mode():
            self.logits = self.model(self.tokens)

    def _capture(self):
        # Libraries allocate their workspaces on first use, which a capture does not allow.
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self._forward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._forward()
        return graph

    def step(self):
        if self.graph:
            self.graph.replay()
        else:
            self._forward()

    def output(self):
        return {"next_token": int(self.logits[0, -1].argmax().item())}

    def expected(self, steps):
        return {"linear_flops_per_step": self.shape.linear_flops(self.batch),
                "weight_bytes": 2 * self.shape.matmul_parameters(),
                "graph_launches": steps if self.graph else 0, "steps": steps}


def add_arguments(parser):
    parser.add_argument("--mode", choices=("eager", "graph"), default="eager")
    parser.add_argument("--batch", type=int, default=16, help="tokens a step")
    parser.add_argument("--layers", type=int, default=12)


if __name__ == "__main__":
    harness.run("gpt_decode", harness.parse_arguments(__doc__, add_arguments, steps=200), GptDecode)
