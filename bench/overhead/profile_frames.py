"""Reads a profile's frames (docs/design/wire.md), for the benches: no part of utlz is needed."""

import struct

PROFILE_HEADER_BYTES = 16
FRAME_HEADER = struct.Struct("<IHHII")  # payload bytes, type, flags, source, checksum
TRACE_WINDOW, SAMPLES, SAMPLER_STATUS = 13, 33, 35
COMPRESSED = 1
START, END = 1, 2  # fields of TraceWindow


def frames(profile):
    """(type, flags, payload) of every whole frame; the last one of a growing profile may be in the making."""
    return ((kind, flags, payload) for _, kind, flags, payload in sent_frames(profile))


def sent_frames(profile):
    """The same after the number of the process that sent it; 0 is the collector."""
    with open(profile, "rb") as file:
        data = file.read()
    at = PROFILE_HEADER_BYTES
    while at + FRAME_HEADER.size <= len(data):
        size, kind, flags, source, _ = FRAME_HEADER.unpack_from(data, at)
        at += FRAME_HEADER.size
        if at + size > len(data):
            return
        yield source, kind, flags, data[at:at + size]
        at += (size + 7) & ~7


def trace_windows(profile):
    """[(begin, end)…] in ns of CLOCK_REALTIME, in order; windows that never ended are left out."""
    return sorted(window for of_one in trace_windows_by_process(profile).values() for window in of_one)


def trace_windows_by_process(profile):
    """The same of each process."""
    windows = {}
    for source, kind, flags, payload in sent_frames(profile):
        if kind == TRACE_WINDOW:
            if flags & COMPRESSED:
                raise ValueError(f"{profile}: a compressed TraceWindow, which has never been seen")
            fields = message_fields(payload)
            begin, end = fields.get(START, 0), fields.get(END, 0)
            if end > begin:
                windows.setdefault(source, []).append((begin, end))
    return {source: sorted(of_one) for source, of_one in windows.items()}


def message_fields(payload):
    """{number: value} of a protobuf message, the last one of each: numbers, and bytes."""
    fields = {}
    at = 0
    while at < len(payload):
        key, at = _varint(payload, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            fields[number], at = _varint(payload, at)
        elif kind == 1:
            fields[number], = struct.unpack_from("<Q", payload, at)
            at += 8
        elif kind == 2:
            size, at = _varint(payload, at)
            fields[number] = payload[at:at + size]
            at += size
        else:
            raise ValueError(f"a field of wire type {kind}, which utlz does not write")
    return fields


def _varint(payload, at):
    value = shift = 0
    while payload[at] & 0x80:
        value |= (payload[at] & 0x7F) << shift
        shift += 7
        at += 1
    return value | payload[at] << shift, at + 1
