#!/usr/bin/env python3
"""How far Nsight Compute's runs of one step differ, launch by launch, for kernels that move little.

    reference_repeatability.py tests/data/captures/ncu-decode.{1,2,3}.csv.gz

Prints, by function and grid, the standard deviation of a launch's DRAM bytes between the runs as a
share of what the busiest kernel moves in the same time, and their root mean square over all: what
attribution's Options::cache_share stands for.
"""

import collections
import csv
import gzip
import statistics
import sys

UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9,
         "ns": 1, "nsecond": 1, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6}
# A kernel moves little where its rate is below this share of the busiest one's.
LITTLE = 0.02


def read_launches(path):
    """[(name and grid, {metric: value in bytes or ns})] in launch order."""
    launches = {}
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(line for line in file if line.startswith('"')):
            key, values = launches.setdefault(int(row["ID"]),
                                              ((row["Kernel Name"], row["Grid Size"]), {}))
            values[row["Metric Name"]] = (float(row["Metric Value"].replace(",", ""))
                                          * UNITS.get(row["Metric Unit"], 1))
    return [launches[index] for index in sorted(launches)]


def main():
    runs = [read_launches(path) for path in sys.argv[1:]]
    kernels = collections.defaultdict(list)  # (time, mean bytes, variance) of every launch
    for launches in zip(*runs):
        time_ns = statistics.mean(values["gpu__time_duration.sum"] for _, values in launches)
        moved = [values["dram__bytes_read.sum"] + values["dram__bytes_write.sum"]
                 for _, values in launches]
        kernels[launches[0][0]].append((time_ns, statistics.mean(moved),
                                        statistics.variance(moved)))
    rates = {key: sum(moved for _, moved, _ in rows) / sum(time for time, _, _ in rows)
             for key, rows in kernels.items()}
    busiest = max(moved / time for rows in kernels.values() for time, moved, _ in rows)
    shares = []
    for key, rows in kernels.items():
        if rates[key] >= LITTLE * busiest:
            continue
        time_ns = statistics.mean(time for time, _, _ in rows)
        deviation = statistics.mean(variance for _, _, variance in rows) ** 0.5
        shares.append(deviation / (busiest * time_ns))
        print(f"{len(rows):4} launches of {time_ns / 1e3:6.1f} us, {deviation:8.0f} bytes: "
              f"{100 * shares[-1]:.4f} %  {key[0][:50]}")
    print(f"root mean square of {len(shares)}: "
          f"{100 * statistics.mean(share ** 2 for share in shares) ** 0.5:.4f} %")


if __name__ == "__main__":
    main()
