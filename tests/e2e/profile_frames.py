"""What a profile that is being written holds so far (docs/wire.md)."""

import struct

PROFILE_HEADER_BYTES = 16
FRAME_HEADER = struct.Struct("<IHHII")
FRAME_SAMPLES = 33


def batches_of_samples(profile):
    """Frames of samples that have been written so far."""
    content = profile.read_bytes() if profile.exists() else b""
    batches, offset = 0, PROFILE_HEADER_BYTES
    while offset + FRAME_HEADER.size <= len(content):
        payload_bytes, frame_type, *_ = FRAME_HEADER.unpack_from(content, offset)
        offset += FRAME_HEADER.size + (payload_bytes + 7) // 8 * 8
        batches += frame_type == FRAME_SAMPLES and offset <= len(content)
    return batches
