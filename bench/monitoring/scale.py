#!/usr/bin/env python3
"""Lets one real Prometheus scrape many hosts, whose metrics come through the real exporter.

    scale.py --build BUILD [--hosts 10] [--gpus 8] [--interval 15] [--minutes 4]

Prints series, samples and bytes a scrape, how long one takes, and what the server's memory and
processor time are, as a table; and what they grow to at 1,000 hosts if they grow with the hosts.
"""
import argparse
import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
MANY = 1000


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def process_usage(pid):
    """Resident MiB and processor seconds."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text("utf-8")
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024, (int(fields[11]) + int(fields[12])) / 100


class Server:
    def __init__(self, folder, ports, interval_s):
        targets = ", ".join(f"'127.0.0.1:{port}'" for port in ports)
        shutil.copy(ROOT / "docs/monitoring/rules.yml", folder / "rules.yml")
        (folder / "prometheus.yml").write_text(
            f"global: {{scrape_interval: {interval_s}s, evaluation_interval: {interval_s}s}}\n"
            "rule_files: [rules.yml]\n"
            f"scrape_configs: [{{job_name: utlz, static_configs: [{{targets: [{targets}]}}]}}]\n",
            "utf-8")
        self.port = free_port()
        self.process = subprocess.Popen(
            [shutil.which("prometheus"), f"--web.listen-address=127.0.0.1:{self.port}",
             f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/series"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def query(self, expression):
        address = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode(
            {"query": expression})
        with urllib.request.urlopen(address, timeout=30) as answer:
            results = json.load(answer)["data"]["result"]
        return float(results[0]["value"][1]) if results else None

    def own(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            return float(re.search(rf"^{name} (\S+)$", answer.read().decode(), re.M)[1])


def measure(arguments, folder):
    hosts = subprocess.Popen(
        [arguments.build / "bin/simulated_hosts", str(arguments.hosts), str(arguments.gpus),
         str(ROOT / "data/demo.utlz")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    ports = [int(re.search(r":(\d+)/metrics", hosts.stdout.readline())[1])
             for _ in range(arguments.hosts)]
    server = Server(folder, ports, arguments.interval)
    try:
        begin = time.monotonic()
        time.sleep(60 * arguments.minutes)
        seconds = time.monotonic() - begin
        memory_mib, cpu_s = process_usage(server.process.pid)
        with urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/metrics", timeout=30) as page:
            page_bytes = len(page.read())
        figures = {
            "hosts that are up": server.query("sum(up)"),
            "series of all hosts": server.query("sum(scrape_samples_scraped)"),
            "series of the server, its own and recorded ones included":
                server.own("prometheus_tsdb_head_series"),
            "bytes of a page": page_bytes,
            "milliseconds a scrape, mean": 1e3 * server.query("avg(scrape_duration_seconds)"),
            "milliseconds a scrape, the slowest": 1e3 * server.query("max(scrape_duration_seconds)"),
            "server: resident MiB": memory_mib,
            "server: share of a core, %": 100 * cpu_s / seconds,
        }
    finally:
        server.process.terminate()
        server.process.wait(60)
        rest, _ = hosts.communicate(timeout=60)
    figures["exporters: share of a core, all hosts together, %"] = (
        100 * float(re.search(r"cpu: (\S+)", rest)[1]) / seconds)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--hosts", type=int, default=10)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--interval", type=int, default=15)
    parser.add_argument("--minutes", type=float, default=4)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(arguments, pathlib.Path(folder))
    grows = ("series of all hosts", "server: share of a core, %")
    print(f"| | {arguments.hosts} hosts × {arguments.gpus} GPUs | {MANY} hosts, on paper |")
    print("| --- | ---: | ---: |")
    for name, value in figures.items():
        many = f"{value * MANY / arguments.hosts:,.0f}" if name in grows else ""
        print(f"| {name} | {value:,.1f} | {many} |")


if __name__ == "__main__":
    main()
