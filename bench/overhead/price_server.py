#!/usr/bin/env python3
"""Forks measured processes from one that has imported torch, so that each begins in a second or two.

    price_server.py serve SOCKET [--imports generate …]
    price_server.py ask SOCKET MODULE ARGUMENT …

`ask` hands its environment, its folder, its output and its arguments to the server, waits, and exits
with the status of the process that the server forked: MODULE.main(ARGUMENTS) in that environment. So
it can be the program of `utlz run`: the CUDA driver and the agent read their variables by getenv once
CUDA begins, and the server never lets it begin. A forked process ends as every Python process does,
handlers of exit included. When the client dies, its process is killed.
"""

import importlib
import json
import os
import pathlib
import select
import signal
import socket
import struct
import sys

REQUEST = struct.Struct("!Q")
FAILED = 1


def fork_and_wait(connection, others):
    """In the server: None, the child is over. In the child: its request."""
    message, outputs, _, _ = socket.recv_fds(connection, REQUEST.size, 2)
    request = json.loads(receive(connection, REQUEST.unpack(message)[0]))
    child = os.fork()
    if child == 0:
        for one in others:
            one.close()
        for number, output in enumerate(outputs, start=1):
            os.dup2(output, number)
            os.close(output)
        connection.close()
        return request
    for output in outputs:
        os.close(output)
    ended = os.pidfd_open(child)
    ready = select.select([ended, connection], [], [])[0]
    if ended not in ready:  # the client is gone: it never sends a second time
        os.kill(child, signal.SIGKILL)
    os.close(ended)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        connection.sendall(json.dumps(status).encode())
    except OSError:
        pass  # nobody is there to hear it
    return None


def receive(connection, size):
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the client ended within its request")
        data += part
    return bytes(data)


def run_request(request):
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])  # calls putenv, so that getenv finds it too
    module = importlib.import_module(request["module"])
    return module.main(request["arguments"])


def prepare(loads, rehearse):
    """Imports what the loads need. A tiny model on the processor makes the framework import the rest."""
    if any(load != "fake" for load in loads):
        import torch
        torch.set_num_threads(1)  # a pool of threads would not survive the fork
    if "training" in loads:
        import torch._dynamo  # noqa: F401: the first optimizer would import it
    if "generate" not in loads:
        return
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: F401: for the children
    if rehearse:
        from price_loads import make_llama
        model = make_llama(torch, "cpu", hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                           num_attention_heads=2, num_key_value_heads=1)
        prompt = torch.ones((1, 4), dtype=torch.long)
        model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False,
                       max_new_tokens=2, min_new_tokens=2)


def cuda_has_begun():
    for number in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue  # the folder's own descriptor
        if target.startswith("/dev/nvidia-uvm"):
            return True
    return False


def serve(path, loads, rehearse=True):
    prepare(loads, rehearse)
    if cuda_has_begun():
        print("price_server: CUDA has begun in the server", flush=True)
        if not rehearse:
            return FAILED
        # No process that is forked from this one could use CUDA; without the tiny model, one may.
        os.execv(sys.executable, [sys.executable, __file__, "serve-plain", path, "--imports", *loads])
    if (threads := len(os.listdir("/proc/self/task"))) != 1:
        print(f"price_server: it has {threads} threads, which its children lack", flush=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{path}.new")
    listener.listen()
    os.rename(f"{path}.new", path)  # it is there once it answers
    while True:
        connection = listener.accept()[0]
        try:
            request = fork_and_wait(connection, [listener])
        except (OSError, ValueError, struct.error) as error:
            print(f"price_server: a request failed: {error}", file=sys.stderr, flush=True)
            request = None
        if request is not None:
            return run_request(request)
        connection.close()


def ask(path, module, arguments):
    """The exit status of module.main(arguments) in a process that the server forks."""
    request = json.dumps({"folder": os.getcwd(), "environment": dict(os.environ),
                          "module": module, "arguments": arguments}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [REQUEST.pack(len(request))], [1, 2])
        connection.sendall(request)
        answer = connection.recv(64)
    if not answer:
        print("price_server: the server ended before the process did", file=sys.stderr)
        return FAILED
    status = json.loads(answer)
    return status if status >= 0 else 128 - status


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    command, path, *rest = sys.argv[1:]
    if command in ("serve", "serve-plain"):
        return serve(path, rest[1:], rehearse=command == "serve")
    return ask(path, rest[0], rest[1:])


if __name__ == "__main__":
    sys.exit(main())
