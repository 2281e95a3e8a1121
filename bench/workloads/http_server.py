"""An HTTP server around a transformers model of random weights: POST /generate {"prompt": NUMBER}.

The same prompt gives the same tokens; the answer holds their digest. Prints its port as JSON. Ends
when its standard input does.
"""

import hashlib
import http.server
import json
import os
import sys
import threading

import torch
from transformers import LlamaConfig, LlamaForCausalLM

PROMPT_TOKENS = 64
NEW_TOKENS = 16


class Model:

    def __init__(self):
        torch.manual_seed(1)
        config = LlamaConfig(vocab_size=32000, hidden_size=1024, intermediate_size=2816,
                             num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=4,
                             max_position_embeddings=2048, bos_token_id=1, eos_token_id=None,
                             pad_token_id=0)
        self.model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
        self.lock = threading.Lock()

    def generate(self, number):
        generator = torch.Generator().manual_seed(number)
        prompt = torch.randint(3, 32000, (1, PROMPT_TOKENS), generator=generator).to("cuda")
        with self.lock, torch.inference_mode():
            tokens = self.model.generate(prompt, attention_mask=torch.ones_like(prompt),
                                         do_sample=False, max_new_tokens=NEW_TOKENS,
                                         min_new_tokens=NEW_TOKENS)
        return hashlib.sha256(tokens.cpu().numpy().tobytes()).hexdigest()


def handler_for(model):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):  # the name is http.server's
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps({"digest": model.generate(int(request["prompt"]))}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    return Handler


def main():
    model = Model()
    model.generate(0)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_for(model))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"pid": os.getpid(), "port": server.server_port}), flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
