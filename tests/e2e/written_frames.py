"""What a profile that is being written holds so far (docs/design/wire.md)."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "overhead"))
from profile_frames import message_fields  # pylint: disable=wrong-import-position

PROFILE_HEADER_BYTES = 16
FRAME_HEADER = struct.Struct("<IHHII")
FRAME_TRACE_WINDOW = 13
FRAME_RANGES = 14
FRAME_AGENT_STATUS = 15
FRAME_SAMPLES = 33
# AgentStatus.records_state, and what it says of records that have ended for the process.
RECORDS_STATE, RECORDS_ENDED = 22, 4
# AgentStatus.flushed_until_ns: field 21, fixed64.
FLUSHED_UNTIL = bytes([0xA9, 0x01])


def payloads(profile, wanted_type):
    """Of the frames of one type that have been written so far."""
    return (payload for _, payload in sent_payloads(profile, wanted_type))


def sent_payloads(profile, wanted_type):
    """The same, each with the process that sent it: 0 is the collector."""
    content = profile.read_bytes() if profile.exists() else b""
    offset = PROFILE_HEADER_BYTES
    while offset + FRAME_HEADER.size <= len(content):
        payload_bytes, frame_type, _, source, _ = FRAME_HEADER.unpack_from(content, offset)
        begin = offset + FRAME_HEADER.size
        offset = begin + (payload_bytes + 7) // 8 * 8
        if frame_type == wanted_type and offset <= len(content):
            yield source, content[begin:begin + payload_bytes]


def batches_of_samples(profile):
    return sum(1 for _ in payloads(profile, FRAME_SAMPLES))


def windows_begun(profile):
    """When each trace window began, in ns and in order: its first field, fixed64."""
    return sorted({struct.unpack_from("<Q", payload, 1)[0]
                   for payload in payloads(profile, FRAME_TRACE_WINDOW) if payload[:1] == b"\x09"})


def windows(profile):
    """When each trace window that was closed began and ended, in ns."""
    return sorted(window for of_one in windows_by_process(profile).values() for window in of_one)


def windows_by_process(profile):
    """The same, in order, for each process: the window's first fields, fixed64."""
    found = {}
    for source, payload in sent_payloads(profile, FRAME_TRACE_WINDOW):
        if payload[:1] == b"\x09" and payload[9:10] == b"\x11":
            begin, end = struct.unpack_from("<QxQ", payload, 1)
            if end != 0:
                found.setdefault(source, set()).add((begin, end))
    return {source: sorted(of_one) for source, of_one in found.items()}


def flushes(profile):
    """Up to when everything had been handed over, in ns, as each AgentStatus tells: its last field."""
    return [struct.unpack("<Q", payload[-8:])[0]
            for payload in payloads(profile, FRAME_AGENT_STATUS)
            if payload[-10:-8] == FLUSHED_UNTIL]


def records_states(profile):
    """AgentStatus.records_state of each process that has told it, as it was told last."""
    states = {}
    for source, payload in sent_payloads(profile, FRAME_AGENT_STATUS):
        state = message_fields(payload).get(RECORDS_STATE)
        if state is not None:
            states[source] = state
    return states
