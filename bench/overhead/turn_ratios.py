"""What processes say that worked in turns on one core: ways compared turn by turn."""

import math
import statistics

import section_ratios
from section_ratios import BEGIN, SECTION_S, SECTIONS, compare_by, middle_mean

# Of four programs on a core each works in half a minute as much as one by itself does in ten seconds,
# if it needs three of them before its first turn.
PARTS = {**section_ratios.PARTS, "first half minute": (0.0, 30.0)}
TURN = 5
SLICE_S = 1.0


def sections_by_turn(run, part):
    """{turn: (seconds since CUDA began, mean CPU time of a section in it)}"""
    begin_s, end_s = PARTS[part]
    return {piece[TURN]: (piece[BEGIN], piece[SECTION_S] / piece[SECTIONS])
            for piece in run.get("pieces", []) if begin_s <= piece[BEGIN] < end_s}


def cores(runs, part):
    """{(core, round): {way: [sections_by_turn of each of its processes]}}"""
    found = {}
    for run in sorted(runs, key=lambda run: (run["place"], run["round"], run["copy"])):
        ways = found.setdefault((run["place"], run["round"]), {})
        ways.setdefault(run["way"], []).append(sections_by_turn(run, part))
    return found


def change_of_core(processes, others):
    """The mean over turns of the logarithm of the one's section ÷ the other's, where each turn has the
    middle mean of its second; None without turns that all of them had. The middle mean over all turns
    would leave out a second in which much is recorded."""
    turns = set.intersection(*(set(process) for process in processes + others))
    by_second = {}
    for turn in turns:
        second = int(processes[0][turn][0] / SLICE_S)
        by_second.setdefault(second, []).append(
            math.log(mean_section(processes, turn) / mean_section(others, turn)))
    if not by_second:
        return None
    return sum(len(each) * middle_mean(each) for each in by_second.values()) / len(turns)


def mean_section(processes, turn):
    return statistics.fmean(process[turn][1] for process in processes)


def means_of_rotations(by_core):
    """The mean over as many rounds as programs share a core, in which each came to each server. A
    program costs up to 2 % more than another by the server that forked it, in each round alike.
    `by_core`: {(core, round): (programs on the core, a change or None)}"""
    rotations = {}
    for (core, number), (programs, change) in by_core.items():
        rotations.setdefault((core, number // programs, programs), []).append(change)
    return [statistics.fmean(changes) for (_, _, programs), changes in rotations.items()
            if len(changes) == programs and None not in changes]


def changes_of(runs, part, pair_of):
    """Of each rotation the change between what `pair_of` finds among a core's ways."""
    by_core = {}
    for key, ways in cores(runs, part).items():
        pair = pair_of(ways)
        by_core[key] = (sum(map(len, ways.values())), change_of_core(*pair) if pair else None)
    return means_of_rotations(by_core)


def changes(runs, part, way, other):
    return changes_of(runs, part, lambda ways: (ways[way], ways[other])
                      if way in ways and other in ways else None)


def null_changes(runs, part):
    return changes_of(runs, part, lambda ways: (ways["alone"][:1], ways["alone"][1:])
                      if len(ways.get("alone", [])) == 2 else None)


def compare(runs):
    """As compare_by, over the rotations of all cores."""
    return compare_by(runs, PARTS, changes, null_changes)
