#!/usr/bin/env python3
"""In what steps CUPTI's times of kernels go, in recordings.

    timestamp_steps.py tests/data/captures/*.k.gz

The least that an edge can be off by is a step's own standard deviation, step / sqrt(12): a part of
what attribution's Options::timestamp_error_ns stands for. How far blocks start and stop apart is the
other part, which no record shows.
"""

import collections
import gzip
import math
import sys


def main():
    for path in sys.argv[1:]:
        durations = collections.Counter()
        with gzip.open(path, "rt") as file:
            for line in file:
                start_ns, end_ns = (int(field) for field in line.replace(",", " ").split()[:2])
                durations[end_ns - start_ns] += 1
        values = sorted(durations)
        steps = collections.Counter(b - a for a, b in zip(values, values[1:]))
        divisor = math.gcd(*values)
        multiples = sum(count for value, count in durations.items() if value % 32 == 0)
        print(f"{path}: {sum(durations.values())} kernels, {len(values)} durations, "
              f"all multiples of {divisor} ns, {100 * multiples / sum(durations.values()):.1f} % of "
              f"32 ns; commonest steps between durations "
              + ", ".join(f"{step} ns ({count})" for step, count in steps.most_common(4)))


if __name__ == "__main__":
    main()
