#!/usr/bin/env python3
"""Shows what failed tests of a ctest run printed, from the JUnit file that ctest wrote.

Of each of the first three, what follows its failures: of a log of which only the end is kept, that
is enough to know the cause.
"""

import re
import sys
import xml.etree.ElementTree

MOST_TESTS = 3
MOST_LINES = 60  # of one test
ALL_LINES = 84  # of all of them
LEAST_LINES_A_FAILURE = 12
# Where unittest, GoogleTest, AddressSanitizer and its like, and UBSan begin to say what failed.
FAILURE = re.compile(r"(FAIL|ERROR): |.*: Failure$|.*ERROR: \w+Sanitizer|.*: runtime error: ")


def failed_tests(path):
    """Name, seconds and output of each."""
    return [(case.get("name"), float(case.get("time")), case.findtext("system-out") or "")
            for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase")
            if case.get("status") == "fail"]


def worth_seeing(output, most_lines):
    """As many lines: what follows each failure, or the last ones where none says that it is one."""
    lines = output.strip().splitlines()
    failures = [number for number, line in enumerate(lines) if FAILURE.match(line)]
    if not failures or len(lines) <= most_lines:
        return lines[-most_lines:]
    each = max(most_lines // len(failures), LEAST_LINES_A_FAILURE)
    numbers = sorted({number for failure in failures
                      for number in range(failure, min(failure + each, len(lines)))})
    seen = []
    for before, number in zip([-1] + numbers, numbers[:most_lines]):
        if number != before + 1:
            seen.append("[…]")
        seen.append(lines[number])
    return seen


def main():
    failed = failed_tests(sys.argv[1])
    shown = failed[:MOST_TESTS]
    for name, seconds, output in shown:
        print(f"== {name} failed after {seconds:.0f} s:")
        for line in worth_seeing(output, min(MOST_LINES, ALL_LINES // len(shown))):
            print(line[:400])
    if len(failed) > len(shown):
        print(f"== and {len(failed) - len(shown)} more failed")


if __name__ == "__main__":
    main()
