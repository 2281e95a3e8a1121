#!/usr/bin/env python3
"""Compares every two of several profiles of one and the same program: none should differ.

    bench/compare/same_program.py --utlz build/release/bin/utlz PROFILE PROFILE…
"""

import argparse
import itertools
import json
import subprocess

SAME = ("unknown", "no_difference")


def difference(utlz, before, after):
    command = [utlz, "diff", "--recompute", "--format", "json", before, after]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def differing(rows, key):
    return [row for row in rows if row[key]["verdict"] not in SAME]


def step_text(quantities):
    for row in quantities:
        change = row["change"]
        if row["name"] == "step_time_ns" and change.get("before") and "delta" in change:
            error = change["error"] / change["before"]
            return f"{change['relative_delta']:+.1%} ± {error:.1%}"
    return "–"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--utlz", required=True)
    parser.add_argument("profiles", nargs="+")
    arguments = parser.parse_args()
    pairs = list(itertools.combinations(arguments.profiles, 2))
    steps_differ = numbers_differ = slices_differ = 0
    for before, after in pairs:
        found = difference(arguments.utlz, before, after)
        numbers = differing(found["quantities"], "change")
        slices = differing(found["slices"], "time_ns")
        steps_differ += any(row["name"].startswith("step_time") for row in numbers)
        numbers_differ += bool(numbers)
        slices_differ += bool(slices)
        names = ", ".join(row["name"] for row in numbers + slices) or "nothing"
        print(f"{before} {after}: a step {step_text(found['quantities'])}; differs: {names}")
    print(f"{len(pairs)} pairs; step time differs in {steps_differ}, any number of the run in "
          f"{numbers_differ}, any slice in {slices_differ}")


if __name__ == "__main__":
    main()
