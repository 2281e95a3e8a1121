"""Rows of results, and what sums up many values in one of them."""

import json
import pathlib
import statistics


class Results:
    """Rows: appended to the file and printed at once."""

    def __init__(self, arguments):
        self.path, self.name = pathlib.Path(arguments.result), arguments.child

    def add(self, row, **values):
        values = {key: round(value, 3) if isinstance(value, float) else value
                  for key, value in values.items()}
        line = {"measurement": self.name, "row": row, **values}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"  {row}: " + ", ".join(f"{key}={value}" for key, value in values.items()),
              flush=True)


def quantiles(values):
    values = sorted(values)
    if not values:
        return {}
    pick = lambda share: values[min(len(values) - 1, int(share * len(values)))]
    return {"n": len(values), "least": values[0], "p10": pick(.1), "median": pick(.5),
            "p90": pick(.9), "p99": pick(.99), "most": values[-1]}


def paired(measure, switch, pairs):
    """Windows off, on, off, on, …: each one that is on against the mean of those beside it."""
    windows = [measure()]
    for _ in range(pairs):
        for on in (True, False):
            switch(on)
            windows.append(measure())
    off, on = windows[::2], windows[1::2]
    differences = sorted(on[i] - (off[i] + off[i + 1]) / 2 for i in range(pairs))
    return {"off": statistics.median(off), "on": statistics.median(on),
            "difference": statistics.median(differences),
            "difference_p25": differences[pairs // 4],
            "difference_p75": differences[3 * pairs // 4], "pairs": pairs,
            "off_first": off[0], "off_last": off[-1]}
