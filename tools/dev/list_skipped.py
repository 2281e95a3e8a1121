#!/usr/bin/env python3
"""Says which tests of a ctest run were skipped and why, from the JUnit file that ctest wrote."""

import collections
import re
import sys
import xml.etree.ElementTree


def reason_of(case):
    """The last line that the test wrote for people: GoogleTest's skip message, or a script's."""
    output = case.findtext("system-out") or ""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for index, line in enumerate(lines):
        # GoogleTest prints "file:line: Skipped", then the message.
        if line.endswith(": Skipped") and index + 1 < len(lines):
            return lines[index + 1]
    spoken = [line for line in lines if not re.match(r"\[[ =\-A-Z]+\]|Note: Google Test|Running main",
                                                     line)]
    return spoken[-1] if spoken else "no reason given"


def skipped_by_reason(path):
    skipped = collections.defaultdict(list)
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        if case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
            skipped[reason_of(case)].append(case.get("name"))
    return skipped


def main():
    skipped = skipped_by_reason(sys.argv[1])
    if not skipped:
        print("No test was skipped.")
        return
    print(f"Skipped: {sum(map(len, skipped.values()))}")
    for reason, names in skipped.items():
        print(f"  {reason}")
        for name in names:
            print(f"    {name}")


if __name__ == "__main__":
    main()
