#!/usr/bin/env python3
"""Holds every #include to the folders' order, and refuses modules that include each other.

A module is a header with its .cc file. Folders are process boundaries, and stages of the data. The
table of the design overview must say the same of them.

    check_include_directions.py ROOT
"""

import collections
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')

# For each folder: what it may include beside itself. Each row is above all that it names.
ALLOWED = {
    "proto": [],
    "cupti": [],
    # The agent, in the target.
    "inject/base": ["proto"],
    "inject/driver": ["cupti", "proto"],
    "inject/python": ["inject/base"],
    "inject/xla": ["inject/base", "inject/driver"],
    "inject/record": ["inject/base", "inject/driver", "inject/python", "inject/xla", "proto"],
    "inject/reports": ["inject/base", "inject/driver", "inject/python", "inject/record", "proto"],
    "inject/tracing": ["inject/base", "inject/driver", "inject/python", "inject/record",
                       "inject/reports", "inject/xla", "proto"],
    "inject/ranges": ["cupti", "inject/base", "inject/driver", "inject/record", "proto"],
    "inject": ["inject/base", "inject/driver", "inject/record", "inject/reports", "inject/tracing",
               "inject/ranges", "inject/xla", "proto"],
    # Small types of the collector's folders and the tools.
    "collector": [],
    # Files that others could have a hand in: nothing of ours below it.
    "collector/files": ["collector"],
    "collector/text": ["collector", "proto"],
    "collector/kernel_names": [],
    "collector/kernel_code": ["collector"],
    # Pure computation: knows neither the wire nor the profile.
    "collector/attribution": ["collector"],
    # From frames to a summary, each stage above the one before.
    "collector/decode": ["proto"],
    "collector/xla": ["collector/decode", "proto"],
    "collector/timeline": ["collector/decode", "proto"],
    "collector/counters": ["collector", "collector/attribution", "collector/decode",
                           "collector/timeline", "proto"],
    "collector/windows": ["proto"],
    "collector/run": ["collector", "collector/counters", "collector/decode", "collector/kernel_code",
                      "collector/kernel_names", "collector/timeline", "collector/windows",
                      "collector/xla", "proto"],
    "collector/owners": ["collector/decode", "collector/kernel_names", "collector/run",
                         "collector/timeline", "proto"],
    "collector/analysis": ["collector", "collector/attribution", "collector/counters",
                           "collector/kernel_code", "collector/kernel_names", "collector/run", "collector/text",
                           "collector/windows", "proto"],
    "collector/steps": ["collector", "collector/analysis", "collector/kernel_names",
                        "collector/run", "collector/text", "collector/timeline", "proto"],
    "collector/summary": ["collector", "collector/analysis", "collector/counters",
                          "collector/kernel_names", "collector/owners", "collector/run",
                          "collector/steps", "collector/text", "proto"],
    "collector/diagnosis": ["collector", "collector/analysis", "collector/kernel_names",
                            "collector/owners", "collector/run", "collector/summary", "collector/text", "proto"],
    "collector/summarize": ["collector/analysis", "collector/diagnosis", "collector/run",
                            "collector/steps", "collector/summary", "proto"],
    "collector/metrics": ["collector", "collector/analysis", "collector/kernel_names",
                          "collector/run", "collector/steps", "collector/text", "proto"],
    "collector/live": ["collector", "collector/analysis", "collector/files",
                       "collector/kernel_names", "collector/metrics", "collector/owners",
                       "collector/run", "collector/steps", "collector/summary", "proto"],
    "collector/history": ["collector", "collector/files", "collector/metrics", "proto"],
    "collector/alarms": ["collector", "collector/kernel_names", "collector/metrics", "collector/run",
                         "collector/text", "collector/windows", "proto"],
    "collector/ingest": ["collector", "proto"],
    "collector/profile": ["collector", "collector/decode", "collector/files", "proto"],
    # The sampler's process holds the counter privilege, so it parses nothing that a target wrote.
    "collector/sampler/driver": ["cupti"],
    "collector/sampler/counters": ["collector", "collector/sampler/driver", "proto"],
    "collector/sampler/channel": ["collector", "collector/sampler/driver", "proto"],
    "collector/sampler/sharing": ["collector", "collector/files", "collector/sampler/channel",
                                  "collector/sampler/driver", "proto"],
    "collector/sampler/host": ["collector/sampler/driver"],
    "collector/sampler": ["collector", "collector/sampler/channel", "collector/sampler/counters",
                          "collector/sampler/driver", "collector/sampler/host",
                          "collector/sampler/sharing", "proto"],
    "collector/sampler/doctor": ["collector", "collector/sampler/counters",
                                 "collector/sampler/driver", "collector/sampler/sharing"],
    # One run. Of the sampler it knows the way there only.
    "collector/session": ["collector", "collector/alarms", "collector/analysis", "collector/ingest",
                          "collector/kernel_code", "collector/kernel_names", "collector/live",
                          "collector/metrics", "collector/profile", "collector/run",
                          "collector/sampler/channel", "collector/steps", "collector/summarize",
                          "collector/text", "proto"],
    "tools/ending": ["collector"],
    "tools/demo_load": ["collector/sampler/driver"],
    "tools/attach/target": ["collector"],
    "tools/attach/unwind": ["tools/attach/target"],
    "tools/attach": ["collector", "collector/files", "proto", "tools/attach/target",
                     "tools/attach/unwind", "tools/ending"],
    "tools/attribution_check": ["collector", "collector/attribution"],
    "tools/calibrate": ["collector", "collector/files", "collector/sampler/driver", "proto",
                        "tools/json"],
    "tools/compare": ["collector", "collector/text", "proto"],
    "tools/model_flops": ["collector/text", "proto", "tools/json"],
    "tools/replay": ["collector", "collector/decode", "collector/profile", "collector/run", "collector/summarize", "proto"],
    "tools/export": ["collector", "collector/analysis", "collector/decode", "collector/files",
                     "collector/kernel_names", "collector/owners", "collector/profile",
                     "collector/run", "collector/steps", "collector/text", "collector/timeline",
                     "proto", "tools/replay"],
    "tools/http": ["collector"],
    "tools/exporter": ["collector", "collector/files", "collector/metrics", "tools/http"],
    "tools/app_metrics": ["collector", "proto", "tools/http"],
    "tools/json": ["collector/text", "proto"],
    "tools/history_report": ["collector/text", "proto", "tools/json", "tools/report"],
    "tools/merge": ["collector", "collector/decode", "collector/kernel_names", "collector/profile",
                    "collector/run", "collector/summarize", "collector/text", "proto"],
    "tools/report": ["collector", "collector/text", "proto", "tools/json"],
    "tools/report_html": ["proto", "tools/compare", "tools/report"],
    "tools/run": ["collector", "collector/files", "collector/history", "collector/metrics",
                  "collector/sampler/driver", "collector/session", "collector/text", "proto",
                  "tools/app_metrics", "tools/calibrate", "tools/ending", "tools/exporter"],
    "tools/processes": ["collector", "collector/sampler/driver", "tools/attach",
                        "tools/attach/target"],
    "tools/top": ["collector", "collector/counters", "collector/decode", "collector/files",
                  "collector/live", "collector/profile", "collector/run",
                  "collector/sampler/channel", "collector/sampler/counters",
                  "collector/sampler/driver",
                  "collector/text", "proto", "tools/attach/target", "tools/json",
                  "tools/processes"],
    "tools/top/screen": ["collector", "collector/text", "proto", "tools/top"],
    "tools/attach_session": ["collector", "collector/diagnosis", "collector/files",
                             "collector/sampler/driver", "collector/session", "proto",
                             "tools/attach", "tools/attach/target", "tools/ending",
                             "tools/exporter", "tools/run"],
    "tools/collector_service": ["collector", "collector/files", "collector/history", "collector/ingest",
                                "collector/metrics", "collector/session", "collector/text",
                                "proto", "tools/attach", "tools/attach/target",
                                "tools/attach_session", "tools/ending", "tools/exporter", "tools/json",
                                "tools/run"],
    "tools/utlz": ["collector", "collector/diagnosis", "collector/files", "collector/history",
                   "collector/ingest", "collector/sampler", "collector/sampler/channel",
                   "collector/sampler/doctor", "collector/sampler/driver",
                   "collector/sampler/sharing", "collector/text", "proto",
                   "tools/attach_session", "tools/calibrate", "tools/collector_service",
                   "tools/compare", "tools/export", "tools/history_report",
                   "tools/merge", "tools/model_flops", "tools/processes", "tools/replay",
                   "tools/report", "tools/report_html", "tools/run", "tools/top",
                   "tools/top/screen"],
}
OVERVIEW = "docs/design/overview.md"
# They may include anything.
EVERYTHING = ("tests", "bench")
PRODUCT = sorted({folder.split("/")[0] for folder in ALLOWED})
SOURCE_FOLDERS = sorted(PRODUCT + list(EVERYTHING))

# What must not be brought into a stranger's process, nor into the layout that it shares with us.
GUEST_FOLDERS = ("cupti", "inject", "proto")
GUEST_FORBIDDEN = re.compile(
    r"^(absl/|google/|Eigen/|nlohmann/|CLI/|zstd|zlib|gtest/|"
    r"(iostream|fstream|sstream|ostream|istream|iomanip|locale|regex|filesystem|stdexcept|exception|"
    r"iosfwd|future|thread)$)|\.pb\.h$|/profile_frames\.h$")


def includes_of(file):
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def exists(root, name):
    """Whether it is a file of ours, or will be generated from one."""
    sources = (name, re.sub(r"(\.pb|_fields|_frames)\.h$", ".proto", name), name + ".in")
    return any((root / source).is_file() for source in sources)


def problem_of(root, path, quote, name):
    """What is wrong with this include in the file at `path`, or None."""
    folder, _, _ = path.rpartition("/")
    top = path.split("/")[0]
    if top in GUEST_FOLDERS and GUEST_FORBIDDEN.search(name):
        return f"{top}/ may not bring {name} into the target"
    if name.split("/")[0] not in SOURCE_FOLDERS or "/" not in name:
        if quote == '"' and (root / path).parent.joinpath(name).is_file():
            return f'"{name}" must be written from the root of the tree'
        return None
    if top not in EVERYTHING and name.rpartition("/")[0] not in [folder] + ALLOWED[folder]:
        return f"{folder}/ may not depend on {name}"
    if not exists(root, name):
        return f"there is no {name}"
    return None


def sources_in(root):
    for folder in SOURCE_FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".h", ".cc", ".c", ".cu") and "node_modules" not in file.parts:
                yield file, file.relative_to(root).as_posix()


def module_of(path):
    return re.sub(r"\.(h|cc)$", "", path)


def cycles_of(graph):
    """Sets of nodes that reach each other, of more than one node each (Tarjan's algorithm)."""
    order, lowest, stack, cycles = {}, {}, [], []

    def visit(node):
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for next_node in sorted(graph.get(node, ())):
            if next_node not in order:
                visit(next_node)
            if next_node in stack:
                lowest[node] = min(lowest[node], lowest[next_node])
        if lowest[node] == order[node]:
            cycle = stack[stack.index(node):]
            del stack[len(stack) - len(cycle):]
            if len(cycle) > 1:
                cycles.append(sorted(cycle))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return cycles


def problems_in(root):
    modules = collections.defaultdict(set)
    for file, path in sources_in(root):
        in_product = path.split("/")[0] in PRODUCT
        has_row = not in_product or path.rpartition("/")[0] in ALLOWED
        if not has_row:
            yield f"{path}:1: {path.rpartition('/')[0]}/ has no row in check_include_directions.py"
        for number, quote, name in includes_of(file):
            problem = problem_of(root, path, quote, name) if has_row else None
            if problem:
                yield f"{path}:{number}: {problem}"
            if in_product and module_of(name) != module_of(path):
                modules[module_of(path)].add(module_of(name))
    for cycle in cycles_of(modules):
        yield f"these modules include each other: {', '.join(cycle)}"


def allowed_below(folder):
    """What this folder and those in it may include of others; of each top, `proto` and small types go
    without saying."""
    inside = [name for name in ALLOWED if name == folder or name.startswith(f"{folder}/")]
    return {name for each in inside for name in ALLOWED[each]} - {*inside, "collector", "proto"}


def overview_rows(text):
    """(folder, the folders that it may depend on) of the overview's table."""
    for cells in re.findall(r"^\| `([\w/]+)` \|[^|]*\|([^|]*)\|$", text, re.MULTILINE):
        named = [name.rstrip("/") for name in re.findall(r"`([\w/]+)`", cells[1])]
        paths = [next((path for path in (name, f"collector/{name}", f"collector/sampler/{name}")
                       if path in ALLOWED), name) for name in named]
        yield cells[0].rstrip("/"), set(paths) - {"proto"}


def problems_of_overview(text):
    """Where the table of the design overview differs from the rows here."""
    rows = dict(overview_rows(text))
    for folder, named in rows.items():
        if folder in ALLOWED and named != allowed_below(folder):
            yield (f"{OVERVIEW}: {folder} may depend on {', '.join(sorted(allowed_below(folder)))}, "
                   f"and the table says {', '.join(sorted(named))}")
    for folder in ALLOWED:
        stage = "/".join(folder.split("/")[:2])
        if stage.startswith("collector/") and stage not in rows:
            yield f"{OVERVIEW}: the table has no {stage}"


def main():
    problems = [f"the rows of these folders allow each other: {', '.join(cycle)}"
                for cycle in cycles_of(ALLOWED)]
    root = pathlib.Path(sys.argv[1]).resolve()
    problems += problems_in(root)
    problems += problems_of_overview((root / OVERVIEW).read_text(encoding="utf-8"))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
