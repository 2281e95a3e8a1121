"""What processes say that worked in turns on one core: ways compared turn by turn."""

import math
import statistics

from section_ratios import (BEGIN, COMPARISONS, NULL, PARTS, SECTION_S, SECTIONS,
                            change_and_interval, middle_mean)

TURN = 5


def sections_by_turn(run, part):
    """{turn: mean CPU time of a section in it}"""
    begin_s, end_s = PARTS[part]
    return {piece[TURN]: piece[SECTION_S] / piece[SECTIONS] for piece in run.get("pieces", [])
            if begin_s <= piece[BEGIN] < end_s}


def places(runs, part):
    """Of each core of each round: {way: [{turn: section} of each of its processes]}."""
    found = {}
    for run in sorted(runs, key=lambda run: (run["round"], run["place"], run["copy"])):
        ways = found.setdefault((run["round"], run["place"]), {})
        ways.setdefault(run["way"], []).append(sections_by_turn(run, part))
    return list(found.values())


def change_of_place(processes, others):
    """The middle mean over turns of the logarithm of the one's section ÷ the other's; None without
    turns that all of them had."""
    turns = set.intersection(*(set(process) for process in processes + others))
    if not turns:
        return None
    return middle_mean([math.log(statistics.fmean(process[turn] for process in processes)
                                 / statistics.fmean(process[turn] for process in others))
                        for turn in turns])


def changes(runs, part, way, other):
    found = [change_of_place(ways[way], ways[other]) for ways in places(runs, part)
             if way in ways and other in ways]
    return [change for change in found if change is not None]


def null_changes(runs, part):
    found = [change_of_place(ways["alone"][:1], ways["alone"][1:]) for ways in places(runs, part)
             if len(ways.get("alone", [])) == 2]
    return [change for change in found if change is not None]


def compare(runs):
    """{part: {name of the comparison: (change, low, high, cores of all rounds)}}; the interval is by
    bootstrap over these."""
    found = {}
    for part in PARTS:
        by_name = {name: changes(runs, part, way, other) for name, way, other in COMPARISONS}
        by_name[NULL] = null_changes(runs, part)
        found[part] = {name: change_and_interval(values) for name, values in by_name.items()
                       if len(values) >= 2}
    return found
