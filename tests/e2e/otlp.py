"""Requests of OTLP, as OpenTelemetry's own definitions decode them."""

import json
import os
import pathlib
import shutil
import subprocess

NODE = shutil.which("node")
# Where `npm install @opentelemetry/otlp-transformer@0.57.2` put it; none where nothing can run it.
OTLP_DEFINITIONS = NODE and os.environ.get("UTLZ_OTLP_TRANSFORMER")


def attributes_of(one):
    return {pair["key"]: pair["value"]["stringValue"] for pair in one["attributes"]}


def decoded_metrics(folder, body):
    """The metrics of a request by name, and the attributes of its one resource."""
    (folder / "request").write_bytes(body)
    decoded = subprocess.run(
        [NODE, pathlib.Path(__file__).parent / "decode_otlp.js", OTLP_DEFINITIONS,
         folder / "request"], capture_output=True, text=True, check=True)
    [resource] = json.loads(decoded.stdout)["resourceMetrics"]
    metrics = {metric["name"]: metric for metric in resource["scopeMetrics"][0]["metrics"]}
    return metrics, attributes_of(resource["resource"])
