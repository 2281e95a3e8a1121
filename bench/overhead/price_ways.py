"""The ways of price.py: what the words of --ways stand for, and the order of a round."""

import glob
import hashlib
import math
import os
import pathlib
import sys

ALONE = "alone"
UTLZ_WAYS = {"windows": ["--counters=none"], "default": [], "no-new-work": ["--no-new-work"],
             "no-ranges": ["--counters=sample"], "tenth": ["--overhead-budget=0.1%"],
             "windows-no-new-work": ["--counters=none", "--no-new-work"],
             "windows-tenth": ["--counters=none", "--overhead-budget=0.1%"],
             "unlimited": ["--overhead-budget=unlimited"],
             "later-always": ["--later-windows=always"], "later-never": ["--later-windows=never"],
             "stacks": ["--stacks=auto"], "idle-stacks": ["--stacks=auto", "--idle-stacks"],
             "never-traced": ["--delay=1000", "--counters=none"]}
CUPTI_WAYS = {"cupti": "subscribed", "cupti-recorded": "recorded", "cupti-watching": "watching",
              "cupti-both": "both", "cupti-paused": "paused", "cupti-paused-off": "paused-off",
              "cupti-moved": "moved", "cupti-context": "context"}
CUPTI_PLACES = ("/opt/nvidia/**/libcupti.so*", "/usr/local/cuda*/**/libcupti.so*")
ELF_MACHINE = slice(18, 20)


def site_folders():
    return [path for path in sys.path if path and os.path.isdir(path)]


def find_copies():
    """The path of every copy of libcupti that differs from the others, PyTorch's first."""
    found = []
    for folder in site_folders():
        found += sorted(glob.glob(f"{folder}/nvidia/**/libcupti.so.*", recursive=True))
        found += sorted(glob.glob(f"{folder}/triton/backends/nvidia/**/libcupti.so*",
                                  recursive=True))
    for pattern in CUPTI_PLACES:
        found += sorted(glob.glob(pattern, recursive=True))
    machine = pathlib.Path(sys.executable).read_bytes()[ELF_MACHINE]
    copies, seen = [], set()
    for path in dict.fromkeys(map(os.path.realpath, found)):
        library = pathlib.Path(path).read_bytes()
        digest = hashlib.sha256(library).digest()
        if "/stubs/" in path or library[ELF_MACHINE] != machine or digest in seen:
            continue
        seen.add(digest)
        copies.append(path)
    return copies


def resolve_copies(word, copies):
    """Paths that `all`, `torch`, a path, or a part of one stands for."""
    if word == "all":
        return copies
    if word == "torch":
        return [path for path in copies if "/site-packages/nvidia/" in path][:1]
    if os.path.isfile(word):
        return [os.path.realpath(word)]
    return [path for path in copies if word in path]


def alone():
    return {"name": ALONE, "kind": ALONE, "cupti": None}


def expand_ways(words, copies):
    """[{name, kind, cupti}…]; raises ValueError for a word that names nothing."""
    ways = []
    for word in words:
        kind, separator, copy = word.partition(":" if ":" in word else "@")
        if kind in CUPTI_WAYS and separator == ":":
            paths = resolve_copies(copy, copies)
            ways += [{"name": f"{kind}:{path}", "kind": kind, "cupti": path} for path in paths]
            known = bool(paths)
        elif kind in UTLZ_WAYS and separator in ("", "@"):
            paths = resolve_copies(copy, copies) if separator else [None]
            ways += [{"name": f"{kind}@{path}" if path else kind, "kind": kind, "cupti": path}
                     for path in paths]
            known = bool(paths)
        else:
            known = word in ("alone", "inactive")
            if known:
                ways.append({"name": word, "kind": word, "cupti": None})
        if not known:
            raise ValueError(f"--ways {word}: no such way, or no such copy of libcupti")
    return list({way["name"]: way for way in [alone(), *ways]}.values())


def command_of_way(way, utlz, library, profile):
    """What stands before the program, and what is added to the environment. `library` is
    presence_cupti.c, `profile` what utlz writes."""
    if way["kind"] in CUPTI_WAYS:
        return [], {"CUDA_INJECTION64_PATH": str(library), "PRESENCE_CUPTI": way["cupti"],
                    "PRESENCE_MODE": CUPTI_WAYS[way["kind"]]}
    if way["kind"] == "inactive":
        return [utlz, "run", "--preload", "--"], {}
    if way["kind"] in UTLZ_WAYS:
        cupti = ["--cupti", way["cupti"]] if way["cupti"] else []
        return [utlz, "run", "--no-report", "-o", str(profile), *UTLZ_WAYS[way["kind"]], *cupti,
                "--"], {}
    return [], {}


def rotated(ways, number):
    """Another way is first in every round, until each has been, by about a third of them."""
    if not ways:
        return []
    stride = next(step for step in range(len(ways) // 3 + 1, 2 * len(ways) + 1)
                  if math.gcd(step, len(ways)) == 1)
    start = number * stride % len(ways)
    return ways[start:] + ways[:start]


def order_of_round(ways, number):
    """The program alone first and in the middle, the other ways in turn."""
    others = rotated([way for way in ways if way["name"] != ALONE], number)
    half = (len(others) + 1) // 2
    if len(others) < 2:
        return [alone(), *others]
    return [alone(), *others[:half], alone(), *others[half:]]
