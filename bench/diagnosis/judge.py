#!/usr/bin/env python3
"""What reports say of loads whose cause of lost time is known.

    judge.py --utlz build/release/bin/utlz --loads FOLDER [--known FILE --profiles FOLDER]

FOLDER is what make_loads wrote. Every profile is reduced anew by `utlz report --recompute --format
json`. A planted cause is "first" or "second" by the place of the first finding that names it, as
rules.json says which do, else "missed". In a healthy load every finding is a false alarm, but for
one that the report marks as below its threshold (`below_threshold`). FILE holds what is known of
recorded profiles, which lie in the folder --profiles.
"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
STEP_TOLERANCE = 0.03
BUSY_TOLERANCE = 0.02
HEADLINE_LINES = 12
PLACES = ("first", "second")


def report(utlz, profile, form):
    command = [str(utlz), "report", str(profile), "--recompute", "--format", form]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def names_cause(finding, accepted):
    if finding["rule"] not in accepted["rules"]:
        return False
    return accepted.get("evidence", "") in finding.get("evidence", "")


def place_of(findings, accepted):
    """"first", "second" or "missed"."""
    for place, finding in zip(PLACES, findings):
        if names_cause(finding, accepted):
            return place
    return "missed"


def alarms(findings):
    return [finding["rule"] for finding in findings if not finding.get("below_threshold")]


def step_found(summary, time="time_mean_ns"):
    """How many steps the report has, and how long one is, or (0, None)."""
    steps = summary.get("steps", {})
    return steps.get("steps", 0), steps.get(time)


def time_of(level):
    """Which time of a step is known: where a few steps hold something else as well, the usual one."""
    return "time_p50_ns" if level.get("usual") else "time_mean_ns"


def is_near(value, wanted, tolerance):
    return value is not None and abs(value - wanted) <= tolerance * wanted


def step_is_right(summary, levels, tolerance=STEP_TOLERANCE):
    """Whether the steps are those of one of the levels: tokens or calls, say. Without any level there
    are no steps to be found."""
    if not levels:
        return step_found(summary)[0] == 0
    return any(is_near(step_found(summary, time_of(level))[1], level["step_ns"], tolerance)
               for level in levels)


def busy_is_right(summary, load):
    """None where it is not known."""
    if "busy_share" not in load:
        return None
    busy = share_of(summary, "gpu_busy_share")
    return busy is not None and abs(busy - load["busy_share"]) <= BUSY_TOLERANCE


def said(findings, place):
    if place >= len(findings):
        return "–"
    finding = findings[place]
    share = finding.get("gain_share")
    return finding["rule"] + (f" {100 * share:.1f} %" if share is not None else "")


def judge_load(load, summary, rules):
    findings = summary.get("findings", [])
    levels = load["levels"]
    steps, step_ns = step_found(summary, time_of(levels[0]) if levels else "time_mean_ns")
    capture = summary.get("capture", {})
    result = {
        "load": load["load"], "cause": load.get("cause"), "strength": load.get("strength"),
        "planted": load.get("strength", 0) * load.get("threshold", 0), "of": load.get("of"),
        "findings": [said(findings, place) for place in range(len(findings))],
        "steps": steps, "step_ns": step_ns, "levels": levels,
        "step_right": step_is_right(summary, levels),
        "busy": [load.get("busy_share"), share_of(summary, "gpu_busy_share")],
        "busy_right": busy_is_right(summary, load),
        "damaged": capture.get("frames_refused", 0) > 0 or capture.get("bytes_unreadable", 0) > 0,
        "verdict": summary.get("verdict"),
    }
    if load.get("cause"):
        result["named"] = place_of(findings, rules[load["cause"]])
    else:
        result["alarms"] = alarms(findings)
    return result


def share_of(summary, field):
    """Over all devices, each for as long as it was seen."""
    devices = summary.get("devices", [])
    steady_state_ns = sum(device.get("steady_state_ns", 0) for device in devices)
    if steady_state_ns == 0:
        return None
    return sum(device.get(field, 0) * device.get("steady_state_ns", 0) for device in devices) / steady_state_ns


def is_between(value, bounds):
    return value is not None and bounds[0] <= value <= bounds[1]


def judge_known(known, summary, text):
    findings = summary.get("findings", [])
    steps, step_ns = step_found(summary)
    busy, hbm = share_of(summary, "gpu_busy_share"), share_of(summary, "hbm_bandwidth_share")
    checks = {"step": step_is_right(summary, known["levels"], known["step_tolerance"])}
    if "busy_share" in known:
        checks["busy"] = is_between(busy, known["busy_share"])
    if "hbm_share" in known:
        checks["hbm"] = is_between(hbm, known["hbm_share"])
    if "first" in known:
        checks["first"] = place_of(findings, {"rules": known["first"]}) == "first"
    if "headline" in known:
        checks["headline"] = known["headline"] in "\n".join(text.splitlines()[:HEADLINE_LINES])
    return {"file": known["file"], "checks": checks, "steps": steps, "step_ns": step_ns,
            "levels": known["levels"], "busy_share": busy, "hbm_share": hbm,
            "first": said(findings, 0), "verdict": summary.get("verdict")}


def milliseconds(time_ns):
    return "–" if time_ns is None else f"{time_ns / 1e6:.3g}"


def step_text(result):
    wanted = " or ".join(milliseconds(level["step_ns"]) for level in result["levels"]) or "none"
    mark = "" if result["step_right"] else " ✗"
    return f"{milliseconds(result['step_ns'])} of {wanted}{mark}"


def busy_text(result):
    known, found = result["busy"]
    if known is None:
        return percent(found)
    mark = "" if result["busy_right"] else " ✗"
    return f"{percent(found)} of {percent(known)}{mark}"


def planted_text(result):
    if result["of"] == "bytes":
        return f"{result['planted'] / 1e6:.0f} MB"
    return f"{100 * result['planted']:.3g} %"


def table(results):
    lines = ["| planted | strength | amount | first finding | second finding | named | step, ms "
             "| busy |", "|---|---|---|---|---|---|---|---|"]
    for result in results:
        findings = result["findings"] + ["–", "–"]
        if result["cause"]:
            named = [result["cause"], f"{result['strength']:g} ×", planted_text(result)]
            verdict = result["named"]
        else:
            named = [result["load"].replace("healthy-", "nothing: "), "", ""]
            verdict = "FALSE ALARM" if result["alarms"] else "quiet"
        lines.append("| " + " | ".join(named + findings[:2] +
                                        [verdict, step_text(result), busy_text(result)]) + " |")
    return "\n".join(lines)


def totals(results):
    planted = [result for result in results if result["cause"]]
    healthy = [result for result in results if not result["cause"]]
    lines = ["| strength | first | second | missed |", "|---|---|---|---|"]
    for strength in sorted({result["strength"] for result in planted}):
        named = [result["named"] for result in planted if result["strength"] == strength]
        counts = [str(named.count(word)) for word in PLACES + ("missed",)]
        lines.append(f"| {strength:g} × | " + " | ".join(counts) + " |")
    false_alarms = sum(bool(result["alarms"]) for result in healthy)
    right = sum(result["step_right"] for result in results)
    busy_right = [result["busy_right"] for result in results if result["busy_right"] is not None]
    lines.append(f"\nFalse alarms in {false_alarms} of {len(healthy)} healthy loads. "
                 f"Steps right in {right} of {len(results)} loads. "
                 f"Busy share right in {sum(busy_right)} of {len(busy_right)}.")
    return "\n".join(lines)


def percent(share):
    return "–" if share is None else f"{100 * share:.1f} %"


def known_table(results):
    lines = ["| profile | steps | step, ms | GPU busy | HBM | first finding | right | wrong |",
             "|---|---|---|---|---|---|---|---|"]
    for result in results:
        wanted = " or ".join(f"{level['steps']} of {milliseconds(level['step_ns'])}"
                             for level in result["levels"])
        right = [name for name, passed in result["checks"].items() if passed]
        wrong = [name for name, passed in result["checks"].items() if not passed]
        lines.append(f"| {result['file']} | {result['steps']}, known: {wanted} | "
                     f"{milliseconds(result['step_ns'])} | {percent(result['busy_share'])} | "
                     f"{percent(result['hbm_share'])} | {result['first']} | "
                     f"{', '.join(right) or '–'} | {', '.join(wrong) or '–'} |")
    return "\n".join(lines)


def judge_loads(utlz, folder):
    rules = json.loads((HERE / "rules.json").read_text())
    loads = json.loads((folder / "loads.json").read_text())
    return [judge_load(load, json.loads(report(utlz, folder / load["file"], "json")), rules)
            for load in loads]


def judge_all_known(utlz, file, folder):
    results = []
    for known in json.loads(file.read_text()):
        profile = folder / known["file"]
        summary = json.loads(report(utlz, profile, "json"))
        results.append(judge_known(known, summary, report(utlz, profile, "text")))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--utlz", type=pathlib.Path, required=True)
    parser.add_argument("--loads", type=pathlib.Path, required=True, help="what make_loads wrote")
    parser.add_argument("--known", type=pathlib.Path, help="what is known of recorded profiles")
    parser.add_argument("--profiles", type=pathlib.Path, help="where these lie")
    parser.add_argument("--output", type=pathlib.Path, help="default: results.json in --loads")
    options = parser.parse_args()
    if (options.known is None) != (options.profiles is None):
        parser.error("--known and --profiles belong together")
    results = {"loads": judge_loads(options.utlz, options.loads)}
    print(table(results["loads"]), totals(results["loads"]), sep="\n\n")
    if options.known:
        results["known"] = judge_all_known(options.utlz, options.known, options.profiles)
        print("", known_table(results["known"]), sep="\n")
    output = options.output or options.loads / "results.json"
    output.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return 1 if any(result["damaged"] for result in results["loads"]) else 0


if __name__ == "__main__":
    sys.exit(main())
