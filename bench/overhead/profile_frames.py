"""Reads a profile's frames (docs/design/wire.md), for the benches: no part of utlz is needed."""

import struct

PROFILE_HEADER_BYTES = 16
FRAME_HEADER = struct.Struct("<IHHII")  # payload bytes, type, flags, source, checksum
TRACE_WINDOW, SAMPLES = 13, 33
COMPRESSED = 1
START, END = 1 << 3 | 1, 2 << 3 | 1  # fields 1 and 2 of TraceWindow, fixed64


def frames(profile):
    """(type, flags, payload) of every whole frame; the last one of a growing profile may be in the making."""
    with open(profile, "rb") as file:
        data = file.read()
    at = PROFILE_HEADER_BYTES
    while at + FRAME_HEADER.size <= len(data):
        size, kind, flags, _, _ = FRAME_HEADER.unpack_from(data, at)
        at += FRAME_HEADER.size
        if at + size > len(data):
            return
        yield kind, flags, data[at:at + size]
        at += (size + 7) & ~7


def trace_windows(profile):
    """[(begin, end)…] in ns of CLOCK_REALTIME, in order; windows that never ended are left out."""
    windows = []
    for kind, flags, payload in frames(profile):
        if kind == TRACE_WINDOW:
            if flags & COMPRESSED:
                raise ValueError(f"{profile}: a compressed TraceWindow, which has never been seen")
            begin, end = _times(payload)
            if end > begin:
                windows.append((begin, end))
    return sorted(windows)


def _times(payload):
    times = {START: 0, END: 0}
    at = 0
    while at + 9 <= len(payload) and payload[at] in times:
        times[payload[at]], = struct.unpack_from("<Q", payload, at + 1)
        at += 9
    return times[START], times[END]
