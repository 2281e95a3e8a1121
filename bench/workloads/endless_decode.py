"""Decodes with the GPT of gpt_decode.py without end, as a server does, and answers its standard input.

    mark      statistics of the steps since the last mark, as a line of JSON
    digest    a digest of the logits of the fixed batch, computed anew
    quit      ends
"""

import argparse
import hashlib
import json
import os
import queue
import statistics
import sys
import threading
import time

import torch

import gpt_decode


def quantile(values, share):
    return values[min(len(values) - 1, int(share * len(values)))]


def statistics_of(durations_ms, seconds):
    ordered = sorted(durations_ms)
    return {"steps": len(ordered), "seconds": round(seconds, 3),
            "p50_ms": quantile(ordered, 0.5), "p99_ms": quantile(ordered, 0.99),
            "mean_ms": statistics.fmean(ordered)} if ordered else {"steps": 0}


def digest_of(decode):
    decode.step()
    torch.cuda.synchronize()
    return hashlib.sha256(decode.logits.float().cpu().numpy().tobytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    gpt_decode.add_arguments(parser)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    decode = gpt_decode.GptDecode(arguments)
    for _ in range(20):
        decode.step()
    torch.cuda.synchronize()

    commands = queue.SimpleQueue()

    def listen():
        for line in sys.stdin:
            commands.put(line.strip())
        commands.put("quit")

    threading.Thread(target=listen, daemon=True).start()
    print(json.dumps({"pid": os.getpid(), "mode": arguments.mode}), flush=True)
    durations_ms = []
    since = time.perf_counter()
    while True:
        begin = time.perf_counter()
        decode.step()
        torch.cuda.synchronize()
        durations_ms.append((time.perf_counter() - begin) * 1e3)
        if commands.empty():
            continue
        command = commands.get()
        if command == "quit":
            return
        if command == "digest":
            print(json.dumps({"digest": digest_of(decode)}), flush=True)
        elif command == "mark":
            now = time.perf_counter()
            print(json.dumps(statistics_of(durations_ms, now - since)), flush=True)
            durations_ms = []
            since = time.perf_counter()


if __name__ == "__main__":
    main()
