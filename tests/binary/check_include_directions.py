#!/usr/bin/env python3
"""Holds every #include to the folders' order: folders are process boundaries (docs/architecture.md).

    check_include_directions.py ROOT
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')

# For the longest folder that holds a file: the folders of ours that it may include.
ALLOWED = {
    "proto": ["proto"],
    "cupti": ["cupti"],
    "inject": ["inject", "cupti", "proto"],
    # Pure computation: knows neither the wire nor the profile.
    "collector/attribution": ["collector/attribution"],
    # Holds the counter privilege, so it parses nothing that a target wrote.
    "collector/sampling": ["collector/sampling", "cupti", "proto"],
    "collector/ingest": ["collector/ingest", "collector/profile", "proto"],
    "collector/profile": ["collector/profile", "proto"],
    "collector": ["collector", "proto"],
    "tools": ["tools", "collector", "proto"],
    "tests": ["tests", "tools", "collector", "inject", "cupti", "proto", "bench"],
    "bench": ["bench", "tests", "tools", "collector", "inject", "cupti", "proto"],
}
SOURCE_FOLDERS = sorted({folder.split("/")[0] for folder in ALLOWED})

# What must not be brought into a stranger's process, nor into the layout that it shares with us.
GUEST_FOLDERS = ("cupti", "inject", "proto")
GUEST_FORBIDDEN = re.compile(
    r"^(absl/|google/|Eigen/|nlohmann/|CLI/|zstd|gtest/|"
    r"(iostream|fstream|sstream|ostream|istream|iomanip|locale|regex|filesystem|stdexcept|exception|"
    r"iosfwd|future|thread)$)|\.pb\.h$")


def folder_of(path):
    """The longest key of ALLOWED that holds the path."""
    parts = path.split("/")
    for length in range(len(parts) - 1, 0, -1):
        folder = "/".join(parts[:length])
        if folder in ALLOWED:
            return folder
    return None


def includes_of(file):
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def exists(root, name):
    """Whether it is a file of ours, or will be generated from one."""
    sources = (name, re.sub(r"\.pb\.h$", ".proto", name), name + ".in")
    return any((root / source).is_file() for source in sources)


def problem_of(root, path, quote, name):
    """What is wrong with this include in the file at `path`, or None."""
    folder = folder_of(path)
    if folder in GUEST_FOLDERS and GUEST_FORBIDDEN.search(name):
        return f"{folder}/ may not bring {name} into the target"
    if name.split("/")[0] not in SOURCE_FOLDERS or "/" not in name:
        if quote == '"' and (root / path).parent.joinpath(name).is_file():
            return f'"{name}" must be written from the root of the tree'
        return None
    # What lies directly in a folder is for everything below it.
    shared = path.startswith(name.rpartition("/")[0] + "/")
    if not shared and not any(name.startswith(allowed + "/") for allowed in ALLOWED[folder]):
        return f"{folder}/ may not depend on {name}"
    if not exists(root, name):
        return f"there is no {name}"
    return None


def problems_in(root):
    for folder in SOURCE_FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".h", ".cc", ".c", ".cu") or "node_modules" in file.parts:
                continue
            path = file.relative_to(root).as_posix()
            for number, quote, name in includes_of(file):
                problem = problem_of(root, path, quote, name)
                if problem:
                    yield f"{path}:{number}: {problem}"


def main():
    problems = list(problems_in(pathlib.Path(sys.argv[1]).resolve()))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
