"""A server in the shape of vLLM's: a front end without CUDA, model workers started by spawn.

The front end listens on loopback, a client in it sends `--requests` requests, every request is one
decode of the GPT in a worker, workers in turn. Ends with the workers' own launch counts.
"""

import argparse
import http.server
import json
import multiprocessing
import os
import sys
import threading
import time
import urllib.request


def serve_worker(pipe, arguments):
    """The worker's process: loads the model, answers until it is sent None."""
    import torch  # Only workers may touch CUDA.
    import harness
    from gpt import GptShape, make_gpt

    torch.cuda.init()
    with harness.counting(arguments.count_with_torch_profiler) as counts:
        torch.manual_seed(1)
        model = make_gpt(GptShape(layers=arguments.layers)).eval()
        pipe.send({"ready": os.getpid()})
        while (request := pipe.recv()) is not None:
            with torch.inference_mode():
                tokens = torch.tensor([request["tokens"]], device="cuda")
                logits = model(tokens)
            pipe.send({"next_token": int(logits[0, -1].argmax().item())})
    pipe.send({"pid": os.getpid(), "counts": counts})
    pipe.close()


class Worker:
    """One spawned process and the pipe to it; one request at a time."""

    def __init__(self, arguments):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.lock = threading.Lock()
        self.process = context.Process(target=serve_worker, args=(other, arguments))
        self.process.start()
        other.close()
        self.pid = self.pipe.recv()["ready"]

    def ask(self, request):
        with self.lock:
            self.pipe.send(request)
            return self.pipe.recv()

    def stop(self):
        counts = self.ask(None)
        self.process.join()
        return {**counts, "exit_status": self.process.exitcode}


def make_handler(workers):
    turn = iter(range(sys.maxsize))

    class Handler(http.server.BaseHTTPRequestHandler):

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps(workers[next(turn) % len(workers)].ask(request)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *unused):
            pass
    return Handler


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--count-with-torch-profiler", action="store_true")
    arguments = parser.parse_args()

    workers = [Worker(arguments) for _ in range(arguments.workers)]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), make_handler(workers))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    # A proxy that the environment names must not be asked for loopback.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    begin = time.perf_counter()
    tokens = []
    for index in range(arguments.requests):
        body = json.dumps({"tokens": [index, index + 1, index + 2]}).encode()
        with opener.open(url, data=body) as answer:
            tokens.append(json.load(answer)["next_token"])
    seconds = time.perf_counter() - begin
    server.shutdown()
    ended = [worker.stop() for worker in workers]
    result = {"workload": "server_spawn", "pid": os.getpid(),
              "requests_per_second": round(arguments.requests / seconds, 2),
              "workers": [worker["exit_status"] for worker in ended],
              "worker_pids": [worker["pid"] for worker in ended],
              "output": {"next_token_sum": sum(tokens)}}
    if arguments.count_with_torch_profiler:
        result["counts"] = {"kernel_launches": sum(worker["counts"]["kernel_launches"]
                                                   for worker in ended)}
    print(json.dumps(result), flush=True)
    return 0 if all(worker["exit_status"] == 0 for worker in ended) else 1


if __name__ == "__main__":
    sys.exit(main())
