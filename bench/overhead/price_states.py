"""Compares pieces of price.py's runs that a host of the same speed executed.

A virtual machine's processor switches between speeds that differ by half within seconds, and the
reference beside a piece shows which one it met. Pieces whose two references lie in the same band are
compared directly, so that no model of how the speed acts on different code is needed.
"""

import math
import random
import statistics

from price_ways import ALONE

BAND = 0.1          # a band's width, of its reference time
LEAST_PIECES = 4    # of a way and of the runs alone, for a band to count
THREAD = 2


def band_of(before, after):
    """The band that both references lie in; None where the speed changed meanwhile."""
    first, second = (math.floor(math.log(one[THREAD]) / BAND) for one in (before, after))
    return first if first == second else None


def pieces_by_band(runs, way):
    """{band: [CPU time of the launching thread of each piece]} over all runs of the way."""
    found = {}
    for run in runs:
        if run["way"] != way:
            continue
        references = run["references"]
        for piece, before, after in zip(run["pieces"], references, references[1:]):
            band = band_of(before, after)
            if band is not None:
                found.setdefault(band, []).append(piece[THREAD])
    return found


def change(alone, way, draw=list):
    """CPU time of a piece against the runs alone at the same speed, less one; None without bands.

    Bands are weighed by the smaller of the two numbers of pieces.
    """
    weights, changes = [], []
    for band, pieces in way.items():
        beside = alone.get(band, [])
        weight = min(len(pieces), len(beside))
        if weight >= LEAST_PIECES:
            weights.append(weight)
            changes.append(statistics.median(draw(pieces)) / statistics.median(draw(beside)) - 1)
    if not weights:
        return None
    return sum(w * c for w, c in zip(weights, changes)) / sum(weights)


def change_and_interval(alone, way, rounds=2000, seed=1):
    """The change and its 95 % interval, by bootstrap over pieces; None without bands."""
    middle = change(alone, way)
    if middle is None:
        return None
    generator = random.Random(seed)
    drawn = sorted(change(alone, way, lambda data: generator.choices(data, k=len(data)))
                   for _ in range(rounds))
    return middle, drawn[round(0.025 * (rounds - 1))], drawn[round(0.975 * (rounds - 1))]


def states_table(load, runs, ways):
    """Markdown: a row a way, CPU time of the launching thread at the same speed of the host."""
    alone = pieces_by_band(runs, ALONE)
    lines = [f"### {load}: pieces that the host executed at the same speed", "",
             "| way | CPU of the launching thread | pieces compared |", "| --- | --- | --- |"]
    for way in ways:
        if way == ALONE:
            continue
        pieces = pieces_by_band(runs, way)
        found = change_and_interval(alone, pieces)
        compared = sum(min(len(pieces[band]), len(alone.get(band, []))) for band in pieces)
        text = "–" if found is None else "{:+.1f} % ({:+.1f} … {:+.1f})".format(
            *(100 * part for part in found))
        lines.append(f"| {way} | {text} | {compared} |")
    return "\n".join(lines) + "\n"
