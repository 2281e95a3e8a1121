"""Where two values differ, told briefly.

unittest tells it through difflib, which for two reports with thousands of kernels takes minutes.
"""

SHOWN = 10
_ABSENT = object()


def first_differences(first, second):
    """The first few places at which two mappings or two sequences differ, one a line."""
    places, first, second = _by_place(first, second)
    differing = [place for place in places
                 if first.get(place, _ABSENT) != second.get(place, _ABSENT)]
    lines = [f"{len(differing)} of {len(places)} differ (first != second):"]
    for place in differing[:SHOWN]:
        lines.append(f"  {place!r}: {_told(first, place)} != {_told(second, place)}")
    if len(differing) > SHOWN:
        lines.append(f"  and {len(differing) - SHOWN} more")
    return "\n".join(lines)


def _by_place(first, second):
    if isinstance(first, dict):
        return list(dict.fromkeys([*first, *second])), first, second
    return range(max(len(first), len(second))), dict(enumerate(first)), dict(enumerate(second))


def _told(values, place):
    if place not in values:
        return "absent"
    text = repr(values[place])
    return text if len(text) <= 200 else text[:200] + "..."
