#!/usr/bin/env python3
"""Holds each source folder to a README.md of 5 to 15 lines, and to at most 30 modules.

    check_folders.py ROOT
"""

import pathlib
import sys

from check_include_directions import ALLOWED, EVERYTHING

FEWEST_LINES = 5
MOST_LINES = 15
MOST_MODULES = 30


def problems_in(root):
    for folder in sorted(list(ALLOWED) + list(EVERYTHING)):
        readme = root / folder / "README.md"
        lines = len(readme.read_text(encoding="utf-8").splitlines()) if readme.is_file() else 0
        if lines == 0:
            yield f"{folder}/ has no README.md"
        elif not FEWEST_LINES <= lines <= MOST_LINES:
            yield f"{folder}/README.md has {lines} lines, not {FEWEST_LINES} to {MOST_LINES}"
        modules = {file.stem for file in (root / folder).iterdir() if file.suffix in (".h", ".cc")}
        if len(modules) > MOST_MODULES:
            yield f"{folder}/ has {len(modules)} modules: more than {MOST_MODULES}"


def main():
    problems = list(problems_in(pathlib.Path(sys.argv[1]).resolve()))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
