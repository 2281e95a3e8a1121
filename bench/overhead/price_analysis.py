"""What the runs of price.py say: each way against the runs alone before and after it."""

import math
import random
import statistics

from price_ways import ALONE
from slowdown import median_and_interval

LATER_S = 5.0
BINS_MS = (0, 50, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000)
BEGIN, END, THREAD, PROCESS = range(4)


def ratios(measured, later_s=0.0):
    """Of every piece [CPU time of the thread, wall time], in turns of the reference beside it."""
    pieces, references = measured["pieces"], measured["references"]
    found = []
    for piece, before, after in zip(pieces, references, references[1:]):
        if piece[BEGIN] < pieces[0][BEGIN] + later_s:
            continue
        thread = (before[THREAD] + after[THREAD]) / 2
        wall = (before[END] - before[BEGIN] + after[END] - after[BEGIN]) / 2
        found.append([piece[THREAD] / thread, (piece[END] - piece[BEGIN]) / wall])
    return found


def figures_of(measured, later_s=0.0):
    """Of one process: what --help calls a figure; None without pieces."""
    pieces = [piece for piece in measured["pieces"]
              if piece[BEGIN] >= measured["pieces"][0][BEGIN] + later_s]
    if not pieces:
        return None
    threads, walls = zip(*ratios(measured, later_s))
    raw = [piece[END] - piece[BEGIN] for piece in pieces]
    others = sum(piece[PROCESS] - piece[THREAD] for piece in pieces)
    return {"thread_ratio": statistics.median(threads), "thread_ratio_mean": statistics.fmean(threads),
            "wall_ratio": statistics.median(walls), "wall_ratio_mean": statistics.fmean(walls),
            "wall": statistics.median(raw), "wall_mean": statistics.fmean(raw),
            "thread": statistics.median(piece[THREAD] for piece in pieces),
            "reference": statistics.median(one[THREAD] for one in measured["references"]),
            "others": others / sum(raw), "pieces": len(pieces)}


def figures_of_run(child, spawned_s, ended_s):
    """Of one process: all its pieces and the later ones, and how long it took to begin and end."""
    epoch_s = child["now"][0] - child["now"][1]
    last = (child["references"] or [[child["begun"]] * 2])[-1]
    return {"all": figures_of(child) if child["pieces"] else None,
            "later": figures_of(child, LATER_S) if child["pieces"] else None,
            "begin_s": child["begun"] + epoch_s - spawned_s,
            "start_s": child["references"][0][BEGIN] + epoch_s - spawned_s,
            "end_s": ended_s - last[END] - epoch_s}


def value_of(run, part, figure):
    """None where the run has none."""
    return (run["figures"].get(part) or {}).get(figure)


def alone_beside(runs, index, part, figure):
    """The mean of the runs alone before and after this one, in the same call of the bench."""
    values = []
    for nearby in (reversed(runs[:index]), runs[index + 1:]):
        found = next((run for run in nearby if run["way"] == ALONE), None)
        if found and found["call"] == runs[index]["call"] and value_of(found, part, figure):
            values.append(value_of(found, part, figure))
    return statistics.fmean(values) if values else None


def changes(runs, way, part, figure):
    """Each run of the way ÷ the runs alone beside it, less one."""
    found = []
    for index, run in enumerate(runs):
        value = value_of(run, part, figure)
        beside = alone_beside(runs, index, part, figure) if run["way"] == way else None
        if value and beside:
            found.append(value / beside - 1)
    return found


def cell(values):
    """Median, its interval and the number of runs; of fewer than three, the changes themselves."""
    if not values:
        return "–"
    if len(values) < 3:
        return ", ".join(f"{100 * change:+.2f}" for change in values) + " %"
    median, low, high = (100 * part for part in median_and_interval(values, rounds=4000))
    return f"{median:+.2f} % ({low:+.2f} … {high:+.2f}; {len(values)})"


COLUMNS = (("CPU ÷ reference, median", "all", "thread_ratio"),
           ("CPU ÷ reference, mean", "all", "thread_ratio_mean"),
           ("CPU ÷ reference, mean, after 5 s", "later", "thread_ratio_mean"),
           ("time ÷ reference, median", "all", "wall_ratio"),
           ("time ÷ reference, mean", "all", "wall_ratio_mean"),
           ("time, median", "all", "wall"), ("time, mean", "all", "wall_mean"),
           ("the reference itself", "all", "reference"))


def claim(runs, changed):
    """What the reports of this way said: medians over its runs, in per cent, and whether that interval
    holds the median of `changed`, the changes of the mean time that were measured in pairs."""
    reports = [run["report"] for run in runs
               if (run.get("report") or {}).get("slowdown_share") is not None]
    if not reports:
        return "–"
    stated = statistics.median(report["slowdown_share"] for report in reports)
    error = statistics.median(report.get("slowdown_error_share") or math.nan
                              for report in reports)
    text = f"{100 * stated:.2f} ± {100 * error:.2f} %"
    if not changed:
        return text
    apart = abs(statistics.median(changed) - stated) - error
    return text + (", holds it" if apart <= 0 else f", {100 * apart:.2f} % apart")


def others_of(runs):
    """CPU time of the process's other threads, in per cent of the time of the pieces."""
    shares = [run["figures"]["all"]["others"] for run in runs if run["figures"].get("all")]
    return f"{100 * statistics.median(shares):.2f} %" if shares else "–"


def table(load, runs, ways):
    """Markdown: a row a way, every change in per cent of the runs alone beside it."""
    lines = [f"### {load}: {1 + max(run['round'] for run in runs)} rounds"]
    alone = [run for run in runs if run["way"] == ALONE]
    times = [value_of(run, "all", "wall") for run in alone if value_of(run, "all", "wall")]
    if times:
        lines.append(f"Alone a piece takes {1e3 * statistics.median(times):.3f} ms (median of medians, "
                     f"{1e3 * min(times):.3f} … {1e3 * max(times):.3f}).")
    head = ["way", *(name for name, _, _ in COLUMNS), "other threads", "the report says"]
    lines += ["", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for way in ways:
        of_way = [run for run in runs if run["way"] == way]
        cells = [cell(changes(runs, way, *column[1:])) for column in COLUMNS]
        name = "alone, against alone beside it" if way == ALONE else way
        lines.append("| " + " | ".join([name, *cells, others_of(of_way),
                                         claim(of_way, changes(runs, way, "all", "wall_mean"))]) + " |")
    return "\n".join(lines) + "\n"


def change_and_interval(before, after, rounds=2000, seed=1):
    """Median after ÷ median before, less one, and its 95 % bootstrap interval."""
    generator = random.Random(seed)

    def change(first, second):
        return statistics.median(second) / statistics.median(first) - 1
    drawn = sorted(change(generator.choices(before, k=len(before)),
                          generator.choices(after, k=len(after))) for _ in range(rounds))
    return change(before, after), drawn[round(0.025 * (rounds - 1))], drawn[round(0.975 * (rounds - 1))]


def before_after_table(children):
    """Markdown: a row a process, after ÷ before within it."""
    lines = ["### Before and after, in one process", "",
             "| load, what was done between | CPU ÷ reference | time ÷ reference | time | pieces |",
             "|" + " --- |" * 5]
    for child in children:
        first, second = (ratios(child[part]) for part in ("before", "after"))
        raw = [[piece[END] - piece[BEGIN] for piece in child[part]["pieces"]]
               for part in ("before", "after")]
        pairs = ([one[0] for one in first], [one[0] for one in second]), \
                ([one[1] for one in first], [one[1] for one in second]), raw
        cells = ["{:+.2f} % ({:+.2f} … {:+.2f})".format(*(100 * part for part in
                                                         change_and_interval(*pair)))
                 for pair in pairs]
        lines.append(f"| {child['load']}, {child['mode']} | " + " | ".join(cells)
                     + f" | {len(first)} + {len(second)} |")
    return "\n".join(lines) + "\n"


def steady_ns(batches, usual_reference):
    """CPU time of a launch in ns, at the host's usual speed: median over the batches.

    A batch whose reference took less than the clock can tell says nothing of that speed.
    """
    values = [1e9 * batch[2] * usual_reference / batch[4] for batch in batches if batch[4] > 0]
    return statistics.median(values) if values else None


def after_window_table(child):
    """Markdown: a row a way to switch, a column a time since the window's end."""
    everything = child["never_loaded"] + child["subscribed"] + [
        batch for cycle in child["cycles"] for batch in cycle["after"]]
    usual = statistics.median(batch[4] for batch in everything)
    spans = list(zip(BINS_MS, BINS_MS[1:]))

    def row(name, within, after):
        cells = [within] + [[batch for batch in after if begin <= 1e3 * batch[0] < end]
                            for begin, end in spans]
        values = [steady_ns(batches, usual) for batches in cells]
        return [name, *("–" if value is None else f"{value:.0f}" for value in values)]
    head = ["window", "within it", *(f"{begin}–{end} ms" for begin, end in spans),
            "other threads, 0–500 ms", "off, flush (µs)", "bytes at once, later"]
    lines = ["### CPU time of a launch after a window of records (ns)", "",
             "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for name, batches in (("never loaded", child["never_loaded"]),
                          ("subscribed", child["subscribed"])):
        lines.append("| " + " | ".join([*row(name, [], batches), "–", "–", "–"]) + " |")
    for name in dict.fromkeys(cycle["window"] for cycle in child["cycles"]):
        cycles = [cycle for cycle in child["cycles"] if cycle["window"] == name]
        after = [batch for cycle in cycles for batch in cycle["after"]]
        others = sum(batch[3] for batch in after if batch[0] < 0.5) / len(cycles)
        off, flush = (1e6 * statistics.median(cycle["switch_s"][part] for cycle in cycles)
                      for part in (1, 2))
        at_once, later = (statistics.median(cycle[part] for cycle in cycles)
                          for part in ("bytes_at_once", "bytes_later"))
        within = [batch for cycle in cycles for batch in cycle["within"]]
        lines.append("| " + " | ".join([*row(f"{name} ({len(cycles)})", within, after),
                                        f"{1e3 * others:.2f} ms", f"{off:.0f}, {flush:.0f}",
                                        f"{at_once:.0f}, {later:.0f}"]) + " |")
    return "\n".join(lines) + "\n"
