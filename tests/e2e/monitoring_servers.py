"""Servers of others that take metrics, and one of the test's own; each on a free port of loopback."""

import http.client
import http.server
import json
import os
import pathlib
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse

from harness import TIME_LIMIT_S

MONITORING = pathlib.Path(__file__).parents[2] / "docs" / "monitoring"
PROMETHEUS = os.environ.get("UTLZ_PROMETHEUS") or shutil.which("prometheus")


class Listener:
    """An HTTP server of the test's own on a free port of loopback: `answer` gets a path and a body,
    and returns the page."""

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                length = int(self.headers.get("Content-Length", 0))
                page = answer(self.path, self.rfile.read(length)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Daemon:
    """A program that answers HTTP on a port of loopback."""

    def __init__(self, command, port):
        self.port = port
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(TIME_LIMIT_S)

    def get_until(self, path, good):
        """What it answers, once `good` says that this will do."""
        while self.process.poll() is None:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port,
                                                        timeout=TIME_LIMIT_S)
                connection.request("GET", path)
                answer = json.loads(connection.getresponse().read())
                connection.close()
                if good(answer):
                    return answer
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                pass  # it starts
            time.sleep(0.1)
        raise AssertionError("it ended")


class Prometheus:
    """A real server that scrapes one target every second."""

    def __init__(self, folder, target, alertmanager_port=None):
        rules = (MONITORING / "rules.yml").read_text("utf-8").replace("interval: 15s", "interval: 1s")
        (folder / "rules.yml").write_text(rules, "utf-8")
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            "rule_files: [rules.yml]\n"
            f"scrape_configs: [{{job_name: utlz, static_configs: [{{targets: ['{target}']}}]}}]\n"
            + ("" if alertmanager_port is None else
               "alerting: {alertmanagers: [{static_configs: [{targets: "
               f"['127.0.0.1:{alertmanager_port}']}}]}}]}}\n"), "utf-8")
        self.port = free_port()
        self.process = subprocess.Popen(
            [PROMETHEUS, f"--web.listen-address=127.0.0.1:{self.port}",
             f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/series"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(TIME_LIMIT_S)

    def query(self, expression):
        """The values; raises ValueError where the server refuses the query."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIME_LIMIT_S)
        connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        answer = json.loads(connection.getresponse().read())
        connection.close()
        if answer["status"] != "success":
            raise ValueError(f"{expression}: {answer}")
        return [float(result["value"][1]) for result in answer["data"]["result"]]

    def query_until(self, expression):
        """The values, once there are any."""
        deadline = time.monotonic() + TIME_LIMIT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                if values := self.query(expression):
                    return values
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                pass  # it starts
            time.sleep(0.1)
        raise AssertionError(f"Prometheus ended, or never had {expression}")
