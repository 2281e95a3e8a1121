"""What forked_launches.py's processes say: ways that ran side by side, compared round by round."""

import math
import random
import statistics

PARTS = {"first ten seconds": (0.0, 10.0), "after them": (10.0, math.inf)}
# Each as (name, one way, the other). A way may be there several times in a round, or not at all.
COMPARISONS = (("default ÷ cupti", "default", "cupti"), ("default ÷ alone", "default", "alone"),
               ("cupti ÷ alone", "cupti", "alone"),
               ("idle-stacks ÷ default", "idle-stacks", "default"))
NULL = "alone ÷ alone"
BEGIN, SECTIONS, SECTION_S, REFERENCES, REFERENCE_S = range(5)


def ratios_of_pieces(pieces, begin_s, end_s):
    """Of each piece of that time: a section in turns of the reference beside it."""
    return [(piece[SECTION_S] / piece[SECTIONS]) / (piece[REFERENCE_S] / piece[REFERENCES])
            for piece in pieces if begin_s <= piece[BEGIN] < end_s]


def figure_of(run, part):
    """The mean over a process's pieces; None where it has none in that time."""
    ratios = ratios_of_pieces(run.get("pieces", []), *PARTS[part])
    return statistics.fmean(ratios) if ratios else None


def figures_by_round(runs, part):
    """{round: {way: [figure of each of its processes, in the order of their copies]}}"""
    found = {}
    for run in sorted(runs, key=lambda run: (run["round"], run["copy"])):
        figure = figure_of(run, part)
        if figure is not None:
            found.setdefault(run["round"], {}).setdefault(run["way"], []).append(figure)
    return found


def changes(runs, part, way, other):
    """Of every round that has both ways: the logarithm of the one's mean ÷ the other's."""
    return [math.log(statistics.fmean(figures[way]) / statistics.fmean(figures[other]))
            for figures in figures_by_round(runs, part).values()
            if way in figures and other in figures]


def null_changes(runs, part):
    """The first half of a round's processes alone ÷ the second: nothing differs, but the host."""
    found = []
    for figures in figures_by_round(runs, part).values():
        alone = figures.get("alone", [])
        half = len(alone) // 2
        if half > 0:
            found.append(math.log(statistics.fmean(alone[:half])
                                  / statistics.fmean(alone[half:2 * half])))
    return found


def middle_mean(values):
    """The mean of the middle half, which a round that the host disturbed does not move."""
    ordered = sorted(values)
    cut = len(ordered) // 4
    return statistics.fmean(ordered[cut:len(ordered) - cut])


def change_and_interval(logarithms, draws=4000, seed=1):
    """(change, low, high, rounds): the middle mean and its 95 % interval, bootstrap over rounds."""
    generator = random.Random(seed)
    drawn = sorted(middle_mean(generator.choices(logarithms, k=len(logarithms)))
                   for _ in range(draws))
    return (*(math.expm1(value) for value in
              (middle_mean(logarithms), drawn[round(0.025 * (draws - 1))],
               drawn[round(0.975 * (draws - 1))])), len(logarithms))


def compare_by(runs, parts, changes_of, null_changes_of):
    """{part: {name of the comparison: (change, low, high, how many)}} of what the two functions find;
    of fewer than two none."""
    found = {}
    for part in parts:
        by_name = {name: changes_of(runs, part, way, other) for name, way, other in COMPARISONS}
        by_name[NULL] = null_changes_of(runs, part)
        found[part] = {name: change_and_interval(values) for name, values in by_name.items()
                       if len(values) >= 2}
    return found


def compare(runs):
    """As compare_by, over rounds."""
    return compare_by(runs, PARTS, changes, null_changes)


def section_times_us(runs, begin_s, end_s, way):
    """Medians over a way's processes, in µs of CPU time: (a section, a reference)."""
    times = []
    for run in runs:
        pieces = [piece for piece in run.get("pieces", []) if begin_s <= piece[BEGIN] < end_s]
        if run["way"] == way and pieces:
            times.append([1e6 * sum(piece[total] for piece in pieces)
                          / sum(piece[count] for piece in pieces)
                          for total, count in ((SECTION_S, SECTIONS), (REFERENCE_S, REFERENCES))])
    return [statistics.median(values) for values in zip(*times)] or None


def cell(found):
    if found is None:
        return "–"
    change, low, high, rounds = found
    return f"{100 * change:+.2f} % ({100 * low:+.2f} … {100 * high:+.2f}; {rounds})"


def table(load, runs, parts, compared):
    """Markdown: a row a part of the time, a column a comparison."""
    present = {run["way"] for run in runs}
    names = [*(name for name, way, other in COMPARISONS if {way, other} <= present), NULL]
    lines = [f"### {load}", "", "| | " + " | ".join(names) + " | a section, a reference, alone |",
             "|" + " --- |" * (len(names) + 2)]
    for part, (begin_s, end_s) in parts.items():
        times = section_times_us(runs, begin_s, end_s, "alone")
        said = "–" if times is None else "{:.0f} µs, {:.0f} µs".format(*times)
        cells = [cell(compared[part].get(name)) for name in names]
        lines.append(f"| {part} | " + " | ".join([*cells, said]) + " |")
    return "\n".join(lines) + "\n"
